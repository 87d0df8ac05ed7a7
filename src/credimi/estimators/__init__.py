"""Estimators for scikit-learn: they fit, transform and predict; one file each."""

from credimi.core.errors import CredimiError

try:
    import sklearn  # noqa: F401  (only whether it is there)
except ModuleNotFoundError as error:  # scikit-learn is an extra: counting and ranking do not need it
    raise CredimiError('the estimators need scikit-learn: pip install "credimi[sklearn]"') from error

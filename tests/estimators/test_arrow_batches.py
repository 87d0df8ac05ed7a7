"""A stream of Arrow batches is refused with the call that makes a table of it, and this call works."""

from __future__ import annotations

import pyarrow as pa
import pytest

import credimi

TABLE = pa.table({"x": list("aabb") * 20, "z": list("abab") * 20})
Y = list("ppqq") * 20
ESTIMATORS = [
    credimi.CredibleSelector,
    credimi.CredibleTreeClassifier,
    credimi.IncrementalNaiveBayes,
    credimi.EntropyDiscretizer,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_stream_of_batches_is_refused_with_what_to_pass(estimator: type) -> None:
    stream = TABLE.to_reader()
    with pytest.raises(credimi.CredimiError, match=r"RecordBatchReader.*pass X\.read_all\(\)"):
        estimator().fit(stream, Y)
    estimator().fit(stream.read_all(), Y)  # nothing of the stream was read

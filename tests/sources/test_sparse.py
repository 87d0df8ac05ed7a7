"""Sparse matrices: the counts of the same matrix made dense, without making it so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import credimi
from credimi.columns.column import SparseColumn

RANDOM = np.random.default_rng(8)
DENSE = RANDOM.integers(0, 4, size=(200, 6)) * (RANDOM.random((200, 6)) < 0.3)
DENSE[:, 5] = 0
Y = np.where(DENSE[:, 1] > 1, "p", "q").astype(object)
Y[::11] = None
FORMATS = ["csr", "csc", "coo", "lil", "dok"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [np.int64, np.float32, bool, np.uint8])
def test_counts_are_those_of_the_dense_matrix(form: str, kind: type) -> None:
    dense = DENSE.astype(kind)
    for sparse in (sp.csr_matrix(dense).asformat(form), sp.csr_array(dense).asformat(form)):
        found, expected = credimi.count(sparse, Y), credimi.count(dense, Y)
        assert found == expected
        assert found.flat.dtype == expected.flat.dtype
    assert credimi.rank(sparse, Y).columns == credimi.rank(dense, Y).columns


@pytest.fixture
def _never_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object, *__: object) -> None:
        raise AssertionError("made dense")

    monkeypatch.setattr(SparseColumn, "dense", refuse)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        monkeypatch.setattr(kind, "toarray", refuse)


@pytest.mark.usefixtures("_never_dense")
def test_a_matrix_too_large_to_be_dense() -> None:
    rows, columns = 2_000_000, 1_000
    at = RANDOM.integers(0, rows, size=20_000), RANDOM.integers(0, columns, size=20_000)
    matrix = sp.csr_matrix((np.ones(20_000), at), shape=(rows, columns))
    y = np.zeros(rows, dtype=np.int8)
    y[at[0][at[1] == 7]] = 1
    counts = credimi.count(matrix, y)
    assert counts["column 7"].rows == rows
    assert counts["column 7"].joint[1, 0] == 0
    selector = credimi.CredibleSelector(k=1).fit(matrix[:, :10], y)
    assert selector.get_support().nonzero()[0].tolist() == [7]


def test_stored_zeros_holes_and_doubles_are_what_they_are() -> None:
    matrix = sp.csc_matrix((np.array([0.0, np.nan, 1.0, 1.0]), np.array([0, 1, 2, 2]), np.array([0, 4])), shape=(5, 1))
    table = credimi.count(matrix, list("ppqqq"))["column 0"]
    assert table.joint.tolist() == [[1.0, 0.0], [2.0, 1.0]], "two at one place are one value, their sum"
    assert table.target_only.tolist() == [1.0, 0.0]
    assert matrix.nnz == 4, "as it was"
    missing = credimi.count(matrix, list("ppqqq"), missing_values=[0])["column 0"]
    assert missing.target_only.tolist() == [2.0, 2.0]


def test_weights_cuts_and_columns_by_place() -> None:
    sparse, weights = sp.csr_matrix(DENSE), RANDOM.integers(0, 5, size=200)
    assert credimi.count(sparse, Y, weights=weights) == credimi.count(DENSE, Y, weights=weights)
    fractions = credimi.count(sparse, Y, weights=weights / 3.0)
    assert fractions.flat == pytest.approx(credimi.count(DENSE, Y, weights=weights / 3.0).flat)
    assert credimi.count(sparse, 1, features=[0, 2]) == credimi.count(DENSE, 1, features=[0, 2])
    numbers = RANDOM.normal(size=200)
    cut = credimi.count(sparse, numbers, target_cuts="quantile:3")
    assert cut == credimi.count(DENSE, numbers, target_cuts="quantile:3")
    assert credimi.count(sparse, 1, weights=2) == credimi.count(DENSE, 1, weights=2)


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(credimi.CredimiError, match="sparse matrix of complex128 cannot be counted"):
        credimi.count(sp.csr_matrix(DENSE.astype(complex)), Y)
    with pytest.raises(credimi.CredimiError, match=r"pass X\.toarray\(\)"):
        credimi.prequential(sp.csr_matrix(DENSE), Y)
    for other in (credimi.EntropyDiscretizer(), credimi.IncrementalNaiveBayes()):
        with pytest.raises(TypeError, match="toarray"):
            other.fit(sp.csr_matrix(DENSE), Y)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_the_selector_keeps_them_sparse(form: str) -> None:
    sparse = sp.csr_matrix(DENSE).asformat(form)
    selector = credimi.CredibleSelector().fit(sparse, Y)
    expected = credimi.CredibleSelector().fit(DENSE, Y)
    np.testing.assert_array_equal(selector.get_support(), expected.get_support())
    np.testing.assert_array_equal(selector.scores_, expected.scores_)
    out = selector.transform(sparse)
    assert sp.issparse(out)
    np.testing.assert_array_equal(out.toarray(), expected.transform(DENSE))
    parts = credimi.CredibleSelector().partial_fit(sparse[:90], Y[:90]).partial_fit(sparse[90:], Y[90:])
    assert parts.counts_ == expected.counts_


def test_words() -> None:
    texts = ["good film", "bad film", "good good plot", "bad plot"] * 25
    chain = make_pipeline(CountVectorizer(), credimi.CredibleSelector())
    assert chain.fit_transform(texts, [1, 0, 1, 0] * 25).shape == (100, 2)
    assert chain.get_feature_names_out().tolist() == ["bad", "good"]

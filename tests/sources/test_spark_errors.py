"""What Spark says at length, in one line: the texts are those of Spark 4, their stacks shortened."""

from __future__ import annotations

import pytest

from credimi.core.errors import CredimiError
from credimi.sources.clusters.spark_errors import sentence, told

STACK = "".join(f"\tat org.apache.spark.scheduler.Task.run{line}(Task.scala:147)\n" for line in range(80))
CLASSIC = "An error occurred while calling o85.collectToPython.\n: "
ABORTED = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times, most "
    "recent failure: Lost task 1.3 in stage 3.0 (TID 9) (10.0.0.7 executor 0): "
)
READING = "Encountered error while reading file file:///data/year%202024/b.parquet."
TYPED = (
    f"org.apache.spark.SparkException: [FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] {READING} Data type "
    "mismatches when reading Parquet column [age]. Expected Spark type bigint, actual Parquet type BINARY. SQLSTATE: "
    f"KD001\n{STACK}Caused by: org.apache.spark.sql.execution.datasources.SchemaColumnConvertNotSupportedException: "
    "column: [age], physicalType: BINARY, logicalType: bigint\n"
)
UNREADABLE = (
    f"org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] {READING}  SQLSTATE: KD001\n{STACK}Caused by: "
)
FILE = "/data/year 2024/b.parquet"
WORKER = (
    'org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File "w.py", line 3, in f\n'
)


@pytest.mark.parametrize("before", [CLASSIC, CLASSIC + ABORTED, ABORTED])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            TYPED,
            (FILE, "its column 'age' is stored as BINARY, where the DataFrame has bigint", "write this file again"),
        ),
        (
            UNREADABLE + "java.lang.RuntimeException: file:/data/year%202024/b.parquet is not a Parquet file. Expected "
            "magic number at tail, but found [80, 65, 82, 63]\n" + STACK,
            (FILE, "it is not a Parquet file, or its end is missing", "leave it out"),
        ),
        (
            UNREADABLE + "java.io.FileNotFoundException: /data/year 2024/b.parquet (Permission denied)\n" + STACK,
            (FILE, "permission denied", "needs the right to read it"),
        ),
        (
            "org.apache.spark.SparkException: [FAILED_READ_FILE.FILE_NOT_EXIST] "
            + READING
            + " File does not exist. It "
            "is possible the underlying files have been updated.\nYou can explicitly invalidate the cache in Spark by "
            "running 'REFRESH TABLE tableName' command.\n" + STACK,
            (FILE, "the workers do not find it", "read the folder again"),
        ),
        (
            UNREADABLE + "java.io.IOException: can not read class org.apache.parquet.format.PageHeader: no\n" + STACK,
            (FILE, "can not read class org.apache.parquet.format.PageHeader: no", "leave it out"),
        ),
        (WORKER + "ZeroDivisionError: division by zero\n\n" + STACK, ("ZeroDivisionError: division by zero",)),
        (
            WORKER + "ModuleNotFoundError: No module named 'credimi'\n\n" + STACK,
            ("Spark's workers have no credimi: install it in the Python that they run (PYSPARK_PYTHON)",),
        ),
        (
            "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'a1' of the type \"STRING\" "
            'cannot be cast to "INT". SQLSTATE: 22018\n== SQL (line 1, position 1) ==\ncast(z as int)\n^^^^\n' + STACK,
            ('Spark cannot count: The value \'a1\' of the type "STRING" cannot be cast to "INT"',),
        ),
    ],
)
def test_the_file_the_fault_and_the_remedy_are_told(before: str, text: str, parts: tuple[str, ...]) -> None:
    message = sentence(before + text)
    assert all(part in message for part in parts)
    assert "\n" not in message
    assert "org.apache.spark" not in message
    assert "SQLSTATE" not in message
    assert len(message) < 400


def test_an_error_of_ours_in_a_worker_is_told_as_it_is() -> None:
    raised = "credimi.core.errors.CredimiError: column 'x' holds a list: convert it"
    assert sentence(CLASSIC + WORKER + raised + "\n\n" + STACK) == "column 'x' holds a list: convert it"


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(KeyError), told():
        raise KeyError("x")


def test_the_error_of_spark_is_the_cause() -> None:
    kind = type("SparkException", (Exception,), {"__module__": "pyspark.errors.exceptions.connect"})
    with pytest.raises(CredimiError, match="its column 'age'") as caught, told():
        raise kind(TYPED)
    assert type(caught.value.__cause__) is kind

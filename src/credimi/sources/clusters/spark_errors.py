"""What Spark says when a query fails, as one line that names the file, the column and the remedy.

A failed task reaches the driver as an exception of py4j (classic sessions) or of pyspark (Spark Connect, and faults
that Spark has classified). Its text is a message, thousands of characters of Java's stack, and a `Caused by:` line for
each exception below. Classic sessions and Connect arrange them in other ways, but the words are the same. So the text
is read: Spark's condition in brackets, such as `[FAILED_READ_FILE.FILE_NOT_EXIST]`, the file after "reading file", and
the first line of the causes. The exception stays available as the cause of ours.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

from credimi.core.errors import CredimiError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = re.compile(r"(?:reading|writing) file:? (\S+?)\.?(?:\s|$)")
_WRONG_TYPE = re.compile(r"column \[(.*?)\]\. Expected Spark type (.*?), actual Parquet type (\w+)")
_CONDITION = re.compile(r"^\[[A-Z0-9_.]+\]\s*")
_NOTES = re.compile(r"\s*SQLSTATE: \w+.*| It is possible the underlying files have been updated.*", re.DOTALL)
_CALL = re.compile(r"^An error occurred while calling [^\n]*\n:\s*")
_CLASS = re.compile(r"^(?:[a-z_$][\w$]*\.)+[A-Z][\w$]*(?:: |$)")  # the name of a Java class before its message
_ABORTED = re.compile(r"^Job aborted due to stage failure:.*?Lost task [^\n]*?\): ", re.DOTALL)
_PYTHON_ERROR = re.compile(r"^((?:\w+\.)*[A-Z]\w*)(?:: (.*))?$")  # the last line of a traceback
_OURS = "CredimiError", "UncountableError", "NoRowsError"
_WRITE_AGAIN = "write the file again, or leave it out"


@contextmanager
def told() -> Iterator[None]:
    """Raise an error of ours, of one line, for what Spark raises meanwhile."""
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise CredimiError(sentence(str(error))) from error


def is_of_spark(error: BaseException) -> bool:
    """Whether Spark, or its bridge to Java, raised this error; checked without importing pyspark."""
    return type(error).__module__.split(".")[0] in ("py4j", "pyspark", "grpc")


def sentence(text: str) -> str:
    """What failed and what to do, from the text of Spark's exception."""
    file = _FILE.search(text)
    if "Traceback (most recent call last)" in text:
        return _of_python(text)
    if file is None:
        return f"Spark cannot count: {_first_message(text) or 'it gives no reason'}"
    return f"Spark cannot read {_path(file[1])}: {_fault_of_file(text)}"


def _path(name: str) -> str:
    """The path or the address of a file as the user knows it: Spark writes blanks as %20."""
    return unquote(re.sub(r"^file:/+", "/", name)) if name.startswith("file:") else unquote(name)


def _fault_of_file(text: str) -> str:
    wrong = _WRONG_TYPE.search(text)
    if wrong is not None:
        column, expected, actual = wrong.groups()
        return (
            f"its column {column!r} is stored as {actual}, where the DataFrame has {expected}: write this file again "
            "with the type of the others, or read it apart and cast the column"
        )
    if "is not a Parquet file" in text or "is not a valid Parquet" in text:
        return f"it is not a Parquet file, or its end is missing: {_WRITE_AGAIN}"
    if "ermission denied" in text or "AccessControlException" in text or "AccessDenied" in text:
        return "permission denied: the user who runs Spark's workers needs the right to read it"
    if "FILE_NOT_EXIST" in text or "FileNotFoundException" in text:
        return (
            "the workers do not find it: it is gone since the DataFrame was made, or they see other paths; read the "
            "folder again"
        )
    causes = [message for message in map(_plain, re.findall(r"^Caused by: (.*)$", text, re.MULTILINE)) if message]
    return f"{causes[0] if causes else 'its contents are damaged'}; {_WRITE_AGAIN}"


def _of_python(text: str) -> str:
    """What a Python worker raised: an error of ours as it is, others with their class."""
    ends = [_PYTHON_ERROR.match(line) for line in text.rpartition("Traceback (most recent call last)")[2].splitlines()]
    name, message = next(((end[1], end[2] or "") for end in ends if end is not None), ("", ""))
    short_name, message = name.rpartition(".")[2], _plain(message)
    if short_name in _OURS:
        return message
    if short_name == "ModuleNotFoundError" and "'credimi" in message:
        return "Spark's workers have no credimi: install it in the Python that they run (PYSPARK_PYTHON)"
    what = f"{short_name}: {message}" if message else short_name or "an error"
    return f"Python in a worker of Spark failed: {what}; see the cause of this error for its traceback"


def _first_message(text: str) -> str:
    """The first message of the text, without names of classes and conditions."""
    head = re.split(r"\n\s*(?:at |JVM stacktrace|Driver stacktrace|Caused by)|\n== ", _CALL.sub("", text))[0]
    return _plain(_ABORTED.sub("", _CLASS.sub("", head.strip())))


def _plain(message: str) -> str:
    message = message.strip()
    while _CLASS.match(message):
        message = _CLASS.sub("", message, count=1)
    return shortened(_NOTES.sub("", _CONDITION.sub("", message)).rstrip(". "))

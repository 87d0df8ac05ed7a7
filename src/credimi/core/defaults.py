"""The defaults of public keywords and their choices, each once, with its reason."""

EPSILON = "0.5%"  # of min(H(target), log 2): what is worth having about a rare class is less, in nats
PAPER_EPSILON = 0.003  # nats, as in the paper's experiments: .4 % of the entropy of two even classes
LEVEL = 0.95  # as in the paper's experiments
FDR = 0.05
P_SAME = 0.95  # so that the same data twice show a change with less than .05 probability
PREDICTION_LEVEL = 0.5  # what is more probable than not: it predicts best, and claims nothing
MISSING_VALUES = (  # in every source, so that a file gives the same counts read by its path, by pandas or by polars
    *("", "?", "NA", "NaN", "null"),
    *("N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "None", "nan", "-nan", "-NaN"),  # as pandas reads them
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),  # as spreadsheets write them
)

MISSING_AS = ("ignore", "category")  # a missing value of a feature is not known, or is one more value
TARGET_AS = ("number", "categories")  # of a target of numbers. None: a number if it has many values
WEIGHTS_ARE = ("rows", "survey")  # numbers of repeated rows; what each row stands for. None: rows if all are whole
ENGINES = ("files", "duckdb", "dask", "spark")  # who reads and counts
DEVICES = ("cpu", "gpu")
DISCRETIZE = "average"  # numbers: over all cuts

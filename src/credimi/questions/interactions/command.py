"""Find pairs of columns that tell more about the target together than apart, or that overlap.

synergy is what two columns tell together beyond what each tells alone: positive
where only the combination tells something, negative (redundancy) where both say
the same. All pairs are looked at; of those called synergy at most 5 % are
expected to be wrong (1 - level). It needs all rows, as codes in memory or, with
--scratch, in a file. Ctrl-C ends the search with the pairs found so far.

examples:
  credimi interactions survey.csv --target income
  credimi interactions survey.csv --target income --top 50 --format csv
  credimi interactions survey.csv --target income --html pairs.html --plot pairs.png
"""

from credimi.core.command import Command

COMMAND = Command(
    name="interactions",
    text=__doc__,
    summary="pairs of columns that tell more together than apart, or overlap",
    functions=("interactions",),
    means={
        "epsilon": 'The synergy worth knowing: "0.5%" of the target\'s entropy, or of log 2 where '
        "that is less; or nats.",
        "level": "The share of the reported pairs that is expected to be right; also that of the intervals.",
    },
    doing="looking at pairs",
    html="write a page with the pairs and heat maps, for a browser",
    plot="draw heat maps of the first six",
    nothing_to_draw="there is no pair to draw; --top N lists unsure ones",
    units=True,
    above_csv=("rows", "classes", "columns_tried", "pairs_tried", "all_pairs", "share_without_synergy"),
)

"""From counts to decisions: rankings and the rules that keep features."""

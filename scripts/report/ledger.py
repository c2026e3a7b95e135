"""The ledger of the paper's claims, made by the project's own command, arranged for the index of the reports."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from string import ascii_lowercase

# In the order of the page. The signs are those of viz.Status, so that a verdict looks the same in a notebook.
STATUSES = {
    "reproduced": ("✓", "our measurements agree, by the rule that the row states"),
    "corrected": ("→", "they agree with a correction that the row names: an error, or a setting that the paper does not state"),
    "not reproduced": ("✗", "our measurements say otherwise, by the rule that the row states"),
    "undecided": ("~", "our draws decide neither way, or differ by more than a factor of ten"),
    "not comparable": ("≁", "ours is of other data"),
    "not run": ("·", "nothing is stored to judge it by"),
}
FIELDS = ("id", "group", "claim", "published", "ours", "rule", "status", "why", "overturn", "notebook")
OFTEN = 4  # rows with the same remark that make it a note below the table
CLAIMS = "Claims"  # the group whose rows the digest shows


class LedgerError(Exception):
    """The command failed, or its answer is not a ledger."""


@dataclass
class Group:
    name: str
    rows: list

    @property
    def counts(self):
        return Counter(r["status"] for r in self.rows)

    @property
    def numbers(self):
        return self.name != CLAIMS

    @property
    def notebook(self):
        """The notebook of all rows, or "" if they have not one."""
        found = {r["notebook"] for r in self.rows}
        return found.pop() if len(found) == 1 else ""

    @property
    def notes(self):
        """Texts that many rows share, each with the letter that stands for it in the rows."""
        found = Counter(text for r in self.rows for text in ("rule: " * bool(r["rule"]) + r["rule"], r["why"]) if text)
        return dict(zip((text for text, times in found.items() if times >= OFTEN), ascii_lowercase))


@dataclass
class Ledger:
    summary: str
    rows: list

    @classmethod
    def of_project(cls, root):
        """The ledger that the project's command prints, or None while there is no such command."""
        if not any((root / "measure" / "ledger").glob("*.go")):
            return None
        try:
            done = subprocess.run(("go", "run", "./measure/ledger", "-json"), cwd=root, capture_output=True, text=True)
        except OSError as error:
            raise LedgerError(f"go: {error}") from None
        if done.returncode:
            raise LedgerError(f"go run ./measure/ledger -json: exit {done.returncode}\n{done.stderr.strip()}")
        return cls.parse(done.stdout)

    @classmethod
    def parse(cls, text):
        try:
            raw = json.loads(text)
            summary, rows = raw["summary"], [{f: row[f] for f in FIELDS} for row in raw["rows"]]
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"not a ledger: {error!r}") from None
        seen = set()
        for row in rows:
            if not all(isinstance(v, str) for v in row.values()):
                raise LedgerError(f"row {row['id']!r}: a field is not a text")
            if row["status"] not in STATUSES:
                raise LedgerError(f"row {row['id']!r}: no status {row['status']!r}")
            if not row["id"] or row["id"] in seen or " " in row["id"]:
                raise LedgerError(f"row {row['id']!r}: the id is empty, has a space, or is there twice")
            seen.add(row["id"])
        return cls(summary, rows)

    @property
    def statuses(self):
        return STATUSES

    @property
    def counts(self):
        return Counter(r["status"] for r in self.rows)

    @property
    def groups(self):
        groups = {}
        for row in self.rows:
            groups.setdefault(row["group"], []).append(row)
        return [Group(name, rows) for name, rows in groups.items()]

    @property
    def digest(self):
        """The claims by verdict."""
        claims = [r for r in self.rows if r["group"] == CLAIMS]
        chosen = lambda *statuses: sorted((r for r in claims if r["status"] in statuses), key=lambda r: statuses.index(r["status"]))
        return {
            "What holds": chosen("reproduced"),
            "What does not hold as printed": chosen("not reproduced", "corrected"),
            "What is undecided": chosen("undecided", "not comparable", "not run"),
        }

"""The ledger of the paper's claims, made by the project's own command, arranged for the index of the reports."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from string import ascii_lowercase

# In the order of the page: what a reader must not miss comes first among what does not hold. The signs are those of
# viz.Status, so that a verdict looks the same in a notebook.
STATUSES = {
    "reproduced exactly": ("≡", "the same number, to a millionth, from the same random numbers"),
    "reproduced": ("✓", "within the tolerance that the row states, or supported at 5 % by its test"),
    "within the spread": ("∈", "random, and inside the interval in which 95 % of further draws of ours lie"),
    "order reproduced": ("≶", "the same one of two times is shorter; the factor depends on machine and library"),
    "corrected": ("→", "it holds once an error is corrected, with a setting that the paper does not state, or in one of two readings"),
    "too variable to tell": ("~", "random, and the interval spans more than a factor of ten, or the test decides neither way"),
    "doubtful": ("?", "random, and rejected at 5 % by the test of the row alone, not after the correction for all rows"),
    "not explained": ("¿", "two numbers differ, a cause was looked for, and none was found that gives the difference"),
    "order reversed": ("≷", "the other one of two times is shorter, on our machine and with our library"),
    "contradicted": ("✗", "our measurements reject it, by the test stated in the row"),
    "not comparable": ("≁", "other data or another machine"),
    "not run": ("·", "nothing is stored to judge it by"),
    "found": ("○", "no claim of the paper: what we say of its code or its settings, and measurement confirms"),
    "not found": ("×", "what we say, and measurement does not confirm"),
    "better": ("▲", "what gppl adds to the paper"),
}
FIELDS = ("id", "group", "claim", "published", "ours", "tolerance", "status", "why", "overturn", "notebook")
OFTEN = 4  # rows with the same remark that make it a note below the table
NUMBERS = "number by number"  # ends the name of a group that lists a table's figures, too many for the digest


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
        return self.name.endswith(NUMBERS)

    @property
    def notebook(self):
        """The notebook of all rows, or "" if they have not one."""
        found = {r["notebook"] for r in self.rows}
        return found.pop() if len(found) == 1 else ""

    @property
    def notes(self):
        """Texts that many rows share, each with the letter that stands for it in the rows."""
        found = Counter(text for r in self.rows for text in ("criterion: " * bool(r["tolerance"]) + r["tolerance"], r["why"]) if text)
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
        """What holds, what does not, what is better: the rows that are claims, by verdict."""
        claims = [r for g in self.groups if not g.numbers for r in g.rows]
        chosen = lambda *statuses: sorted((r for r in claims if r["status"] in statuses), key=lambda r: statuses.index(r["status"]))
        return {
            "What holds": chosen("reproduced exactly", "reproduced", "order reproduced", "within the spread"),
            "What does not hold as printed": chosen("contradicted", "order reversed", "doubtful", "not explained", "corrected"),
            "What the draws do not decide": chosen("too variable to tell"),
            "What is better here": chosen("better"),
        }

"""Tells what is in the columns of a CSV file, reading it once.

python3 csv_profile.py FILE [--sep CHAR] [--encoding NAME] [--rows MOST]
"""
import argparse
import collections
import csv
import re

MOST_DISTINCT = 100_000
NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*)(e[+-]?\d+)?$", re.I)
DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d?:\d\d.*)?$|\d\d?[./]\d\d?[./]\d{2,4}$")


class Column:
    def __init__(self, name):
        self.name = name
        self.empty = 0
        self.kinds = collections.Counter()
        self.values = collections.Counter()
        self.full = False
        self.numbers = None
        self.texts = None

    def add(self, text):
        text = text.strip()
        if not text:
            self.empty += 1
            return
        if DATE.match(text):
            kind = "date"
        elif NUMBER.match(text):
            kind = "number"
        else:
            kind = "text"
        self.kinds[kind] += 1
        if kind == "number":
            try:
                value = float(text)
                low, high = self.numbers or (value, value)
                self.numbers = (min(low, value), max(high, value))
            except ValueError:
                self.kinds["number with comma"] += 1
                self.kinds["number"] -= 1
        low, high = self.texts or (text, text)
        self.texts = (min(low, text), max(high, text))
        if not self.full or text in self.values:
            self.values[text] += 1
            self.full = len(self.values) >= MOST_DISTINCT

    def line(self, rows):
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common() if count)
        only_numbers = self.numbers and self.kinds["number"] == sum(self.kinds.values())
        low, high = (self.numbers if only_numbers else self.texts) or ("", "")
        often = ", ".join(f"{text[:24]!r} {count}" for text, count in self.values.most_common(3))
        distinct = f"{len(self.values)}{'+' if self.full else ''}"
        return (f"{self.name[:32]}\n    filled {rows - self.empty} of {rows}, distinct {distinct}, {kinds}\n"
                f"    from {str(low)[:40]!r} to {str(high)[:40]!r}; most often {often}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file")
    arguments.add_argument("--sep")
    arguments.add_argument("--encoding", default="utf-8-sig")
    arguments.add_argument("--rows", type=int)
    asked = arguments.parse_args()
    with open(asked.file, encoding=asked.encoding, errors="replace", newline="") as file:
        sample = file.read(64 * 1024)
        file.seek(0)
        separator = asked.sep or max(",;\t|", key=sample.split("\n", 1)[0].count)
        reader = csv.reader(file, delimiter=separator)
        header = next(reader, [])
        columns = [Column(name or f"(column {at})") for at, name in enumerate(header, 1)]
        rows, ragged = 0, []
        for row in reader:
            if not row:
                continue
            rows += 1
            if len(row) != len(header) and len(ragged) < 5:
                ragged.append(reader.line_num)
            for column, text in zip(columns, row + [""] * (len(header) - len(row))):
                column.add(text)
            if asked.rows and rows >= asked.rows:
                break
    print(f"separator {separator!r}, {len(header)} columns, {rows} rows")
    if "\ufffd" in sample:
        print("some bytes do not fit the encoding: try --encoding cp1252")
    if ragged:
        print(f"rows with another number of fields, first at lines {ragged}")
    repeated = [name for name, count in collections.Counter(header).items() if count > 1]
    if repeated:
        print(f"columns that share a name: {repeated}")
    for column in columns:
        print(column.line(rows))


if __name__ == "__main__":
    main()

"""Searches arXiv and prints one paper a line.

python3 arxiv.py QUERY [--most N] [--start N] [--sort date|relevance] [--abstract]
python3 arxiv.py --id ID[,ID...] [--abstract]
"""
import argparse
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as tree

ADDRESS = "https://export.arxiv.org/api/query"
ATOM = "{http://www.w3.org/2005/Atom}"
ARXIV = "{http://arxiv.org/schemas/atom}"
TRIES = 3
PAUSE = 4  # seconds; they ask for three


def fetch(parameters):
    address = ADDRESS + "?" + urllib.parse.urlencode(parameters)
    asked = urllib.request.Request(address, headers={"User-Agent": "arxiv-skill/1.0"})
    for left in range(TRIES - 1, -1, -1):
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return tree.fromstring(answer.read())
        except (urllib.error.URLError, TimeoutError) as error:
            if not left:
                sys.exit(f"arXiv does not answer: {error}")
            time.sleep(PAUSE)


def text(entry, name, space=ATOM):
    return " ".join((entry.findtext(space + name) or "").split())


def show(entry, abstract):
    authors = [text(author, "name") for author in entry.iter(ATOM + "author")]
    who = ", ".join(authors[:3]) + (f" and {len(authors) - 3} more" if len(authors) > 3 else "")
    primary = entry.find(ARXIV + "primary_category")
    category = primary.get("term") if primary is not None else ""
    print(f"{text(entry, 'id').rsplit('/abs/', 1)[-1]}  {text(entry, 'published')[:10]}  {category}  {text(entry, 'title')}")
    print(f"    {who}")
    for name in ("journal_ref", "comment", "doi"):
        if text(entry, name, ARXIV):
            print(f"    {name}: {text(entry, name, ARXIV)}")
    if abstract:
        print(f"    {text(entry, 'summary')}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("query", nargs="?")
    arguments.add_argument("--id")
    arguments.add_argument("--most", type=int, default=10)
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--sort", choices=["date", "relevance"], default="date")
    arguments.add_argument("--abstract", action="store_true")
    asked = arguments.parse_args()
    if not (asked.query or asked.id):
        arguments.error("a query or --id is needed")
    parameters = {"start": asked.start, "max_results": asked.most}
    if asked.id:
        parameters["id_list"] = asked.id
        parameters["max_results"] = asked.id.count(",") + 1
    else:
        parameters["search_query"] = asked.query
        parameters["sortBy"] = "submittedDate" if asked.sort == "date" else "relevance"
        parameters["sortOrder"] = "descending"
    found = fetch(parameters)
    total = found.findtext("{http://a9.com/-/spec/opensearch/1.1/}totalResults")
    entries = found.findall(ATOM + "entry")
    print(f"{len(entries)} of {total or '?'}")
    for entry in entries:
        show(entry, asked.abstract)


if __name__ == "__main__":
    main()

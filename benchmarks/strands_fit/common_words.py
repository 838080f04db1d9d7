"""Measure what the vectors of the commonest words have in common, and write it as data.

python -m benchmarks.strands_fit.common_words [--file FILE]

The mean and the main directions of the vectors say nothing of a word's meaning, so rankings take
them out of every vector. Takes some minutes: 30,000 words are embedded.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.strands_fit.data import MODEL_PACKAGES, say, version_of
from nightgrid.archive.games.strands.ranking.minilm import sentence_model
from nightgrid.archive.games.strands.ranking.ranker import take_one_thread
from nightgrid.archive.games.strands.ranking.vectors import (
    COMMON,
    COMMON_DIRECTIONS,
    COMMON_WORDS,
    words_with_vectors,
)
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary

COMMAND = "python -m benchmarks.strands_fit.common_words"


def main() -> None:
    """Embed the words, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, default=COMMON)
    options = parser.parse_args()
    take_one_thread()
    vocabulary = ranking_vocabulary()
    chosen = words_with_vectors(vocabulary)[:COMMON_WORDS]
    words = [vocabulary.lexicon.word(int(word)).lower() for word in chosen]
    vectors = sentence_model().embed(words)
    mean = vectors.mean(axis=0)
    spread = np.cov((vectors - mean).T)
    directions = np.linalg.eigh(spread)[1][:, : -COMMON_DIRECTIONS - 1 : -1].T
    provenance = {
        "command": COMMAND,
        "lexicon": vocabulary.lexicon.lexicon_id,
        "words": len(words),
        **{name: version_of(name) for name in (MODEL_PACKAGES[0], "numpy")},
    }
    np.savez(
        options.file,
        mean=mean,
        directions=np.ascontiguousarray(directions, np.float32),
        provenance=np.array(json.dumps(provenance)),
    )
    say(f"wrote {options.file}")


if __name__ == "__main__":
    main()

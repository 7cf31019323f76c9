"""Search over a step function, ignorant of models: it sees logits, a memory and a state it can reorder, nothing else.

    memory = model.encode(source, mask)
    results = search(model.step, memory, model.start(memory), SearchConfig(beam=5), limits=length_limits(mask))
    results[0].hypotheses[0].tokens                                         the first sentence's best

Greedy search, beam search, diverse beam search and sampling are one loop (seq2see.search.loop): groups of beams side by
side. A beam of one is greedy; sampling is as many groups of one as there are samples. Plain greedy and beam search have
a faster path of their own (seq2see.search.plain) over a `Chooser`, which gives K candidates a row instead of V logits.
"""

from seq2see.search.choosing import Chooser, ListedChooser
from seq2see.search.config import LengthPenalty, SearchConfig
from seq2see.search.consensus import Consensus, minimum_bayes_risk
from seq2see.search.hypothesis import Considered, Fate, Hypothesis, Result
from seq2see.search.loop import greedy, length_limit, length_limits, search
from seq2see.search.scoring import attainable, coverage_penalty, length_penalty
from seq2see.search.steps import AttendingStep, Cancelled, Covered, Listed, Step, among, covering, ensemble, seen

__all__ = [
    "AttendingStep",
    "Cancelled",
    "Chooser",
    "Consensus",
    "Considered",
    "Covered",
    "Fate",
    "Hypothesis",
    "LengthPenalty",
    "Listed",
    "ListedChooser",
    "Result",
    "SearchConfig",
    "Step",
    "among",
    "attainable",
    "coverage_penalty",
    "covering",
    "ensemble",
    "greedy",
    "length_limit",
    "length_limits",
    "length_penalty",
    "minimum_bayes_risk",
    "search",
    "seen",
]

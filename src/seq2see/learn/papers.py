"""The papers that lessons come from."""

from dataclasses import dataclass

from seq2see.learn.wording import Wording


@dataclass(frozen=True)
class Paper:
    """Who, when, what; where to find it."""

    authors: str
    year: int
    title: str
    where: str

    @property
    def line(self) -> str:
        title = self.title if self.title.endswith("?") else f"{self.title}."
        return f"{self.authors} ({self.year}). {title} {self.where}."


@dataclass(frozen=True)
class Origin:
    """Where a part of a lesson comes from; `place` is the section of the paper, `what` is what stands there."""

    paper: Paper
    place: str
    what: Wording


BENGIO_1994 = Paper(
    "Bengio, Simard, Frasconi",
    1994,
    "Learning long-term dependencies with gradient descent is difficult",
    "IEEE Transactions on Neural Networks 5(2)",
)
HOCHREITER_1997 = Paper("Hochreiter, Schmidhuber", 1997, "Long short-term memory", "Neural Computation 9(8)")
SCHUSTER_1997 = Paper(
    "Schuster, Paliwal",
    1997,
    "Bidirectional recurrent neural networks",
    "IEEE Transactions on Signal Processing 45(11)",
)
GERS_2000 = Paper(
    "Gers, Schmidhuber, Cummins",
    2000,
    "Learning to forget: continual prediction with LSTM",
    "Neural Computation 12(10)",
)
CHO_2014 = Paper(
    "Cho et al.",
    2014,
    "Learning phrase representations using RNN encoder-decoder for statistical machine translation",
    "arXiv 1406.1078",
)
CHO_2014_PROPERTIES = Paper(
    "Cho et al.",
    2014,
    "On the properties of neural machine translation: encoder-decoder approaches",
    "arXiv 1409.1259",
)
SUTSKEVER_2014 = Paper(
    "Sutskever, Vinyals, Le", 2014, "Sequence to sequence learning with neural networks", "arXiv 1409.3215"
)
GRAVES_2014 = Paper("Graves, Wayne, Danihelka", 2014, "Neural Turing machines", "arXiv 1410.5401")
BAHDANAU_2014 = Paper(
    "Bahdanau, Cho, Bengio",
    2014,
    "Neural machine translation by jointly learning to align and translate",
    "arXiv 1409.0473",
)
LUONG_2015 = Paper(
    "Luong, Pham, Manning",
    2015,
    "Effective approaches to attention-based neural machine translation",
    "arXiv 1508.04025",
)
VASWANI_2017 = Paper("Vaswani et al.", 2017, "Attention is all you need", "arXiv 1706.03762")
KALCHBRENNER_2016 = Paper("Kalchbrenner et al.", 2016, "Neural machine translation in linear time", "arXiv 1610.10099")
DAUPHIN_2017 = Paper(
    "Dauphin, Fan, Auli, Grangier", 2017, "Language modeling with gated convolutional networks", "arXiv 1612.08083"
)
GEHRING_2017 = Paper("Gehring et al.", 2017, "Convolutional sequence to sequence learning", "arXiv 1705.03122")
HE_2015 = Paper("He, Zhang, Ren, Sun", 2015, "Deep residual learning for image recognition", "arXiv 1512.03385")
BA_2016 = Paper("Ba, Kiros, Hinton", 2016, "Layer normalization", "arXiv 1607.06450")
WU_2016 = Paper("Wu et al.", 2016, "Google's neural machine translation system", "arXiv 1609.08144")
MICHEL_2019 = Paper("Michel, Levy, Neubig", 2019, "Are sixteen heads really better than one?", "arXiv 1905.10650")
CLARK_2019 = Paper("Clark, Khandelwal, Levy, Manning", 2019, "What does BERT look at?", "arXiv 1906.04341")
WANG_2017 = Paper("Wang et al.", 2017, "Tacotron: towards end-to-end speech synthesis", "arXiv 1703.10135")
WANG_2018 = Paper(
    "Wang et al.",
    2018,
    "Style tokens: unsupervised style modeling, control and transfer in end-to-end speech synthesis",
    "arXiv 1803.09017",
)

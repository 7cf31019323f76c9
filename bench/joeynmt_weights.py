"""Our weights as joeynmt's, so that both programs translate with the very same model; used by bench/translate.py.

joeynmt 2.3.0 has other ids for the specials, and sines and cosines of positions in turn. Its recurrent decoder is our
`luong` with two things missing: a bias of the vocabulary layer, and a first cell of an LSTM apart from its first state.
`patched` adds these two to its model in memory; neither costs anything that could be measured.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

SPECIALS = ["<unk>", "<pad>", "<s>", "</s>"]
OUR_SPECIALS = [3, 0, 1, 2]  # the same ones in ours

Weights = dict[str, Tensor]
KINDS = ("weight", "bias")


def their_transformer(ours: Weights) -> Weights:
    width = ours["encoder.norm.weight"].numel()
    # Place j of theirs is place order[j] of ours: sin 0, cos 0, sin 1, ... against all sines, then all cosines.
    order = torch.arange(width).view(2, -1).t().flatten()
    words = rows_of_words(ours["encoder.embedding.own.weight"])[:, order]
    theirs = {"src_embed.lut.weight": words, "trg_embed.lut.weight": words, "decoder.output_layer.weight": words}
    attentions = {
        "encoder": {"attention": "src_src_att"},
        "decoder": {"attention": "trg_trg_att", "cross": "src_trg_att"},
    }
    norms = {
        "encoder": {"attention_residual": "layer_norm"},
        "decoder": {"attention_residual": "x_layer_norm", "cross_residual": "dec_layer_norm"},
    }
    for side in attentions:
        theirs[f"{side}.pe.pe"] = positions(width)
        theirs |= {f"{side}.layer_norm.{kind}": ours[f"{side}.norm.{kind}"][order] for kind in KINDS}
        for layer in range(layers_of(ours, side)):
            start = f"{side}.blocks.{layer}."
            own = {name.removeprefix(start): value for name, value in ours.items() if name.startswith(start)}
            block = their_block(own, attentions[side], norms[side], order)
            theirs |= {f"{side}.layers.{layer}.{name}": value for name, value in block.items()}
    return theirs


def their_block(ours: Weights, attentions: Mapping[str, str], norms: Mapping[str, str], order: Tensor) -> Weights:
    theirs = {}
    for our_name, their_name in attentions.items():
        for part, layer in {"query": "q_layer", "key": "k_layer", "value": "v_layer"}.items():
            theirs[f"{their_name}.{layer}.weight"] = ours[f"{our_name}.{part}_projection.weight"][:, order]
            theirs[f"{their_name}.{layer}.bias"] = ours[f"{our_name}.{part}_projection.bias"]
        for kind in KINDS:
            theirs[f"{their_name}.output_layer.{kind}"] = ours[f"{our_name}.output_projection.{kind}"][order]
    for our_name, their_name in {**norms, "feed_forward_residual": "feed_forward.layer_norm"}.items():
        for kind in KINDS:
            theirs[f"{their_name}.{kind}"] = ours[f"{our_name}.norm.{kind}"][order]
    theirs["feed_forward.pwff_layer.0.weight"] = ours["feed_forward.widen.weight"][:, order]
    theirs["feed_forward.pwff_layer.0.bias"] = ours["feed_forward.widen.bias"]
    for kind in KINDS:
        theirs[f"feed_forward.pwff_layer.3.{kind}"] = ours[f"feed_forward.narrow.{kind}"][order]
    return theirs


def layers_of(weights: Weights, side: str) -> int:
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(f"{side}.blocks."))


def positions(width: int) -> Tensor:
    """The table that joeynmt keeps with its weights."""
    rates = torch.exp(torch.arange(0, width, 2) * -(torch.log(torch.tensor(10000.0)) / width))
    angles = torch.arange(5000).unsqueeze(1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).unsqueeze(0)


def their_recurrent(ours: Weights) -> Weights:
    """Of `luong` with GRU or LSTM, general or additive; `bias` and `cell.*` are what joeynmt's has not."""
    cells = {"encoder.forwards.0": ("encoder", ""), "encoder.backwards.0": ("encoder", "_reverse")}
    cells["decoder.stack.cells.0"] = ("decoder", "")
    theirs = {
        f"{side}.rnn.{name}{suffix}": ours[f"{cell}.layer.{name}"]
        for cell, (side, suffix) in cells.items()
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    }
    join = ours["decoder.join.weight"]  # ours reads [context; state], theirs [state; context]
    hidden, context = join.size(0), join.size(1) - join.size(0)
    theirs |= {
        "src_embed.lut.weight": rows_of_words(ours["encoder.embedding.weight"]),
        "trg_embed.lut.weight": rows_of_words(ours["decoder.embedding.weight"]),
        "decoder.att_vector_layer.weight": torch.cat([join[:, context:], join[:, :context]], dim=1),
        "decoder.att_vector_layer.bias": torch.zeros(hidden),
        "decoder.output_layer.weight": rows_of_words(ours["decoder.vocabulary.weight"]),
        "bias": rows_of_words(ours["decoder.vocabulary.bias"]),
    }
    for kind in KINDS:
        first = ours[f"decoder.first_state.map.{kind}"]
        theirs[f"decoder.bridge_layer.{kind}"] = first[:hidden]
        if len(first) > hidden:
            theirs[f"cell.{kind}"] = first[hidden:]
    names = {"bilinear": "key_layer", "key_map": "key_layer", "query_map": "query_layer", "energy": "energy_layer"}
    for our_name, their_name in names.items():
        if f"decoder.attention.{our_name}.weight" in ours:
            theirs[f"decoder.attention.{their_name}.weight"] = ours[f"decoder.attention.{our_name}.weight"][0]
    return theirs


def rows_of_words(weight: Tensor) -> Tensor:
    return torch.cat([weight[OUR_SPECIALS], weight[len(OUR_SPECIALS) :]])


def their_shapes(ours: Mapping[str, Any]) -> dict[str, Any]:
    """joeynmt's `model` settings for a `transformer` or `luong` of ours, of any size."""
    if ours["family"] == "transformer":
        side = {
            "type": "transformer",
            "num_heads": ours["heads"],
            "embeddings": {"embedding_dim": ours["width"], "scale": True, "dropout": 0.1},
            "hidden_size": ours["width"],
            "ff_size": ours["inner"],
            "dropout": 0.1,
            "layer_norm": "pre",
        }
        layers = ours["encoder_layers"] or ours["layers"], ours["layers"]
        sides = {name: {**side, "num_layers": n} for name, n in zip(("encoder", "decoder"), layers, strict=True)}
        return {"tied_embeddings": True, "tied_softmax": True, **sides}
    encoder = {"type": "recurrent", "rnn_type": ours["encoder"]["cell"], "hidden_size": ours["encoder"]["hidden"]}
    encoder |= {"bidirectional": True, "embeddings": {"embedding_dim": ours["encoder"]["embedding"], "dropout": 0.1}}
    decoder = {"type": "recurrent", "rnn_type": ours["cell"], "hidden_size": ours["hidden"], "hidden_dropout": 0.1}
    decoder |= {"embeddings": {"embedding_dim": ours["embedding"], "dropout": 0.1}, "init_hidden": "bridge"}
    decoder |= {"attention": "bahdanau" if ours["attention"]["score"] == "additive" else "luong", "input_feeding": True}
    return {"encoder": encoder, "decoder": decoder}


def write_model(folder: Path, run: Path, beams: Sequence[int], alpha: float) -> None:
    """joeynmt's folder for the weights of a run: checkpoint, vocabulary, and a configuration for each beam."""
    from safetensors.torch import load_file

    model = their_shapes(json.loads((run / "config.json").read_text())["model"])
    ours = load_file(run / "model.safetensors")
    theirs = their_transformer(ours) if model["encoder"]["type"] == "transformer" else their_recurrent(ours)
    extra = {name: theirs.pop(name) for name in ("bias", "cell.weight", "cell.bias") if name in theirs}
    folder.mkdir(exist_ok=True)
    torch.save({"model_state": theirs}, folder / "best.ckpt")
    torch.save(extra, folder / "extra.ckpt")
    size = len(theirs["trg_embed.lut.weight"])
    words = [*SPECIALS, *(f"p{piece}" for piece in range(len(SPECIALS), size))]
    (folder / "vocabulary.txt").write_text("\n".join(words) + "\n")
    side = {"level": "word", "lowercase": False, "max_length": 256, "voc_file": f"{folder}/vocabulary.txt"}
    for beam in beams:
        settings = {
            "name": run.name,
            "joeynmt_version": "2.3.0",
            "model_dir": str(folder),
            "use_cuda": False,
            "data": {
                "train": str(folder),  # asked for, but not read
                "dataset_type": "stream",
                "src": {"lang": "source", **side},
                "trg": {"lang": "target", **side},
            },
            "testing": {"beam_size": beam, "beam_alpha": alpha, "load_model": f"{folder}/best.ckpt"},
            "training": {"batch_size": 64, "label_smoothing": 0.0},
            "model": {"initializer": "xavier_uniform", **model},
        }
        (folder / f"beam-{beam}.yaml").write_text(json.dumps(settings, indent=2))  # JSON, which is YAML


def patched(prediction: Any) -> None:
    """joeynmt's `prediction.prepare` with the two things that its recurrent model has not."""
    prepare = prediction.prepare

    def prepared(args: Any, rank: int, mode: str) -> Any:
        model, *rest = prepare(args, rank, mode)
        extra = torch.load(Path(args.model_dir) / "extra.ckpt")
        if "bias" in extra:
            model.decoder.output_layer.bias = torch.nn.Parameter(extra["bias"])
        if "cell.weight" in extra:
            first = model.decoder._init_hidden

            def init_hidden(final: Tensor) -> tuple[Tensor, Tensor]:
                cell = torch.tanh(torch.nn.functional.linear(final, extra["cell.weight"], extra["cell.bias"]))
                return first(final)[0], cell.unsqueeze(0)

            model.decoder._init_hidden = init_hidden
        return model, *rest

    prediction.prepare = prepared

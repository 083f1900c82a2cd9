"""The models of the benchmarks in PyTorch. `engine/built-in-models.ts` and `bench/train/modules.ts` build the same layers."""

import math

import torch
from torch import nn


def weighted(layer: nn.Module, hidden: bool) -> nn.Module:
    """Uses He normal before ReLU, Glorot uniform before the loss, and biases 0, as the engine's built-in models do."""
    if hidden:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    else:
        nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def dense(features: int, hidden: list[int], outputs: int) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for units in hidden:
        layers += [weighted(nn.Linear(features, units), True), nn.ReLU()]
        features = units
    return [*layers, weighted(nn.Linear(features, outputs), False)]


def cnn(spec: dict) -> nn.Module:
    layers: list[nn.Module] = []
    height, width, channels = spec["inputShape"]
    for filters in spec["filters"]:
        convolution = nn.Conv2d(channels, filters, spec["kernelSize"], padding="same")
        layers += [weighted(convolution, True), nn.ReLU(), nn.MaxPool2d(2)]
        height, width, channels = height // 2, width // 2, filters
    return nn.Sequential(*layers, nn.Flatten(), *dense(height * width * channels, spec["hidden"], spec["outputs"]))


class ChannelNorm(nn.LayerNorm):
    """Layer normalization over the channels of each position."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, filters: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(filters, filters, 3, padding="same"),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
            nn.Conv2d(filters, filters, 3, padding="same"),
            ChannelNorm(filters),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.body(x))


class AveragePool(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3))


def residual(spec: dict) -> nn.Module:
    filters = spec["filters"]
    return nn.Sequential(
        nn.Conv2d(spec["inputShape"][2], filters, 3, padding="same"),
        nn.BatchNorm2d(filters),
        nn.ReLU(),
        *(Block(filters) for _ in range(spec["blocks"])),
        AveragePool(),
        nn.Linear(filters, spec["outputs"]),
    )


def separable(spec: dict) -> nn.Module:
    layers: list[nn.Module] = []
    channels = spec["inputShape"][2]
    for filters in spec["filters"]:
        depthwise = nn.Conv2d(channels, channels, 3, padding="same", groups=channels, bias=False)
        layers += [depthwise, nn.Conv2d(channels, filters, 1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = filters
    depthwise = nn.Conv2d(channels, channels, 3, padding="same", groups=channels)
    return nn.Sequential(*layers, depthwise, nn.ReLU(), AveragePool(), nn.Linear(channels, spec["outputs"]))


class Recurrent(nn.Module):
    """The last output of a recurrent layer, then logits."""

    def __init__(self, spec: dict) -> None:
        super().__init__()
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[spec["cell"]]
        self.recurrent = cell(spec["inputShape"][1], spec["units"], batch_first=True)
        self.logits = nn.Linear(spec["units"], spec["outputs"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.logits(self.recurrent(x)[0][:, -1])


class Text(nn.Module):
    """The mean of the tokens' embeddings, then dense layers."""

    def __init__(self, spec: dict) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec["vocabulary"], spec["units"])
        self.dense = nn.Sequential(*dense(spec["units"], spec["hidden"], spec["outputs"]))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.dense(self.embedding(ids).mean(1))


class Attention(nn.Module):
    """Causal self-attention by PyTorch's fused kernel, which it has on a CPU for attention without dropout."""

    def __init__(self, features: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.project = nn.Linear(features, 3 * features)
        self.output = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, time, features = x.shape
        parts = self.project(x).split(features, dim=2)
        q, k, v = (part.view(rows, time, self.heads, -1).transpose(1, 2) for part in parts)
        dropout = self.dropout if self.training else 0.0
        y = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(rows, time, features))


class EncoderLayer(nn.Module):
    """nn.TransformerEncoderLayer with norm_first and GELU, without the masks and transposes of nn.MultiheadAttention."""

    def __init__(self, features: int, heads: int, dropout: float) -> None:
        super().__init__()
        drop = [nn.Dropout(dropout)] if dropout > 0 else []
        self.attention = nn.Sequential(nn.LayerNorm(features), Attention(features, heads, dropout), *drop)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(features),
            nn.Linear(features, 4 * features),
            nn.GELU(),
            *drop,
            nn.Linear(4 * features, features),
            *drop,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x)
        return x + self.feed_forward(x)


class Transformer(nn.Module):
    """Token ids and learned positions, encoder layers, the mean over the positions, logits."""

    def __init__(self, spec: dict) -> None:
        super().__init__()
        features = spec["features"]
        self.embedding = nn.Embedding(spec["vocabulary"], features)
        self.positions = nn.Parameter(torch.empty(spec["inputShape"][0], features).uniform_(-0.05, 0.05))
        layers = [EncoderLayer(features, spec["heads"], spec["dropout"]) for _ in range(spec["layers"])]
        self.layers = nn.Sequential(*layers, nn.LayerNorm(features))
        self.logits = nn.Linear(features, spec["outputs"])

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.logits(self.layers(self.embedding(ids) + self.positions).mean(1))


class WideAndDeep(nn.Module):
    """A linear part and a deep part (Cheng et al., 2016) over columns of ids and columns of numbers."""

    def __init__(self, spec: dict) -> None:
        super().__init__()
        vocabularies, units, outputs = spec["vocabularies"], spec["units"], spec["outputs"]
        numbers = spec["inputShape"][0] - len(vocabularies)
        self.wide = nn.ModuleList(nn.Embedding(ids, outputs) for ids in vocabularies)
        self.linear = nn.Linear(numbers, outputs, bias=False)
        self.deep = nn.ModuleList(nn.Embedding(ids, units) for ids in vocabularies)
        self.dense = nn.Sequential(*dense(len(vocabularies) * units + numbers, spec["hidden"], outputs))

    def forward(self, inputs: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        ids, numbers = inputs
        columns = ids.unbind(1)
        wide = sum((table(column) for table, column in zip(self.wide, columns)), self.linear(numbers))
        embedded = [table(column) for table, column in zip(self.deep, columns)]
        return wide + self.dense(torch.cat([*embedded, numbers], 1))


def mlp(spec: dict) -> nn.Module:
    return nn.Sequential(*dense(math.prod(spec["inputShape"]), spec["hidden"], spec["outputs"]))


builders = {
    "mlp": mlp,
    "cnn": cnn,
    "residual": residual,
    "separable": separable,
    "recurrent": Recurrent,
    "text": Text,
    "transformer": Transformer,
    "wide-and-deep": WideAndDeep,
}


def memory_format(spec: dict) -> torch.memory_format:
    """Returns the faster layout of the model's images on a CPU."""
    return torch.channels_last if spec["type"] in ("residual", "separable") else torch.contiguous_format


def build(spec: dict) -> nn.Module:
    return builders[spec["type"]](spec).to(memory_format=memory_format(spec))


def parameter_count(model: nn.Module) -> int:
    """Counts weights and running statistics. Without the second bias of PyTorch's recurrent layers: TensorFlow's have one."""
    weights = sum(p.numel() for name, p in model.named_parameters() if "bias_hh" not in name)
    return weights + sum(b.numel() for b in model.buffers() if b.is_floating_point())

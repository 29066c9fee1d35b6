# SPDX-License-Identifier: MIT
"""Which networks of images and sequences does `doors.py` load?

They are written in the style of libraries of convolutional networks, with small widths.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from doors_parts import case

nn = torch.nn
Tensor = torch.Tensor


class ConvNormAct(nn.Sequential):
    def __init__(self, before: int, after: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> None:
        conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
        super().__init__(conv, nn.BatchNorm2d(after), nn.ReLU6(inplace=True))


@case(2, 7, 7)
class ConvClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.pool, self.fc = ConvNormAct(2, 3, stride=2), nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.flatten(self.pool(self.stem(x)), 1))


@case(2, 6, 6)
class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, projection, and a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(
            ConvNormAct(2, 4, 1), ConvNormAct(4, 4, groups=4), nn.Conv2d(4, 2, 1, bias=False), nn.BatchNorm2d(2)
        )
        self.head = nn.Linear(2, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head((x + self.block(x)).mean((2, 3)))


@case(2, 6, 6, refused="(?i)product|multipl")
class SqueezeExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.reduce, self.expand = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv(x))
        gate = F.hardsigmoid(self.expand(F.relu(self.reduce(x.mean((2, 3), keepdim=True)))))
        return (x * gate).mean((2, 3))


@case(2, 5, 5, refused="(?i)hard_?swish|product|multipl")
def hard_swish_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.Hardswish(), nn.Flatten(), nn.Linear(27, 2))


@case(2, 5, 5, refused="(?i)silu|sigmoid")
def silu_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.SiLU(), nn.Flatten(), nn.Linear(27, 2))


@case(4, 5, refused="(?i)gelu|erf|not piecewise linear")
def gelu_mixer() -> nn.Module:
    return nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 5), nn.Flatten())


@case(1, 7, 7)
def average_pool_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AvgPool2d(2, stride=2, padding=1), nn.Flatten(), nn.Linear(18, 2)
    )


@case(1, 7, 7)
def ceil_pool_net() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 2, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)),
        *(nn.Conv2d(2, 2, 1), nn.AvgPool2d(2, 2, ceil_mode=True, count_include_pad=False), nn.Flatten()),
    )


@case(1, 8, 8)
def adaptive_pool_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d((3, 2)), nn.Flatten(), nn.Linear(12, 2))


@case(1, 6, 6)
def adaptive_max_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(3, 2))


@case(2, 5, 5)
class DenseBlock(nn.Module):
    """Every layer reads all earlier ones."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(2 + 2 * i) for i in range(3)])
        self.convs = nn.ModuleList([nn.Conv2d(2 + 2 * i, 2, 3, padding=1) for i in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for norm, conv in zip(self.norms, self.convs, strict=True):
            features.append(conv(F.relu(norm(torch.cat(features, 1)))))
        return F.adaptive_avg_pool2d(torch.cat(features, 1), 1).squeeze(-1).squeeze(-1)


@case(1, 4, 4)
def pixel_shuffle_net() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 1), nn.PixelShuffle(2))


@case(1, 4, 4)
def pixel_unshuffle_net() -> nn.Module:
    return nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(4, 2, 1), nn.ReLU(), nn.Flatten())


@case(1, 7, 5)
class UNet(nn.Module):
    """Odd sizes: what comes up is padded to the size of the skip."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 3, 3, padding=1)
        self.up = nn.ConvTranspose2d(3, 2, 2, stride=2)
        self.last = nn.Conv2d(4, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = F.relu(self.down1(x))
        low = self.up(F.relu(self.down2(F.max_pool2d(skip, 2))))
        dy, dx = skip.size(2) - low.size(2), skip.size(3) - low.size(3)
        low = F.pad(low, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.last(torch.cat([skip, low], dim=1))


@case(1, 7, 5)
class UNetNearest(nn.Module):
    """Odd sizes: what comes up is resized to the size of the skip."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)
        self.last = nn.Conv2d(4, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = F.relu(self.down1(x))
        low = F.relu(self.down2(F.max_pool2d(skip, 2)))
        low = F.interpolate(low, size=skip.shape[-2:], mode="nearest")
        return self.last(torch.cat([skip, low], dim=1))


@case(1, 3, 4)
class BilinearUp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.up = nn.Conv2d(1, 2, 3, padding=1), nn.Upsample(scale_factor=2, mode="bilinear")

    def forward(self, x: Tensor) -> Tensor:
        return self.up(F.relu(self.conv(x)))


@case(1, 3, 4)
class BilinearCorners(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(F.relu(self.conv(x)), size=(5, 6), mode="bilinear", align_corners=True)


@case(2, 4, 5)
class AllPads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv(F.pad(x, (1, 2, 1, 1), mode="reflect")))
        x = F.pad(F.pad(x, (1, 1, 0, 1), mode="replicate"), (1, 1, 1, 1), mode="circular")
        return F.pad(x, (1, 0, 0, 1), value=0.5).flatten(1)


@case(2, 5, 5)
def padding_modes_net() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"), nn.ReLU()),
        *(nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect"), nn.ReLU()),
        *(nn.Conv2d(2, 1, 3, padding="same", padding_mode="replicate", dilation=2), nn.Flatten()),
    )


@case(2, 4, 4)
class FlipsAndRolls(nn.Module):
    """A mean over the symmetries of the square."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        views = [x, x.flip(-1), torch.rot90(x, 1, (2, 3)), torch.roll(x, shifts=(1, -1), dims=(2, 3))]
        return torch.stack([F.relu(self.conv(view)).mean((1, 2, 3)) for view in views], dim=1)


@case(1, 5, 5)
class UnfoldedPatches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Linear(9, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        patches = F.unfold(x, kernel_size=3, stride=2).transpose(1, 2)
        return self.head(F.relu(self.embed(patches)).mean(1))


@case(6)
class SlidingWindows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.line(x.unfold(1, 3, 1))).flatten(1)


@case(1, 4, 4)
class PatchesByReshape(nn.Module):
    """Patches of 2 by 2 as tokens, as in mixers, with constants for positions."""

    def __init__(self) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(1, 4, 5))
        self.embed, self.tokens, self.head = nn.Linear(4, 5), nn.Linear(4, 4), nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, 4)
        x = self.embed(x) + self.position[:, : x.shape[1]]
        x = x + F.relu(self.tokens(x.transpose(1, 2))).transpose(1, 2)
        return self.head(x[:, 0])


@case(2, 9)
class DilatedSequence(nn.Module):
    """Causal convolutions whose last values are cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(2, 3, 2, padding=1, dilation=1)
        self.second = nn.Conv1d(3, 3, 2, padding=2, dilation=2)
        self.beside = nn.Conv1d(2, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.first(x)[:, :, :-1])
        h = F.relu(self.second(h)[:, :, :-2].contiguous())
        return F.relu(h + self.beside(x))[:, :, -1]


@case(1, 3, 4, 4)
def volume_net() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv3d(1, 2, 2), nn.BatchNorm3d(2), nn.ReLU(), nn.AvgPool3d((1, 2, 2), 1), nn.Flatten(), nn.Linear(16, 2))
    )


@case(4, 4, 4)
class ShuffledGroups(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 3, padding=1, groups=2)

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=1)
        y = torch.cat([F.relu(self.left(a)), F.relu(self.right(b))], 1)
        n, c, h, w = y.shape
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w).mean([2, 3])

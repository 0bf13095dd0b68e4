# SPDX-License-Identifier: Apache-2.0
"""The coefficients in rules/platforms: where each is stated, who takes it from whom, and new values in place."""
import math
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'rules', 'platforms')
ENTRY = re.compile(r'^  (\w+): \{value: ([^,]+), low: ([^,]+), high: ([^,]+), unit: "([^"]*)", n: (\d+),', re.M)


class Platforms:
    """bases: file -> the file it starts from; stated: (file, coefficient) -> value; spread: the log sd of its interval;
    power: file -> watts of a GPU, where it states them."""

    def __init__(self):
        self.texts = {}
        self.bases = {}
        self.power = {}
        self.stated = {}
        self.spread = {}
        for name in sorted(os.listdir(ROOT)):
            with open(os.path.join(ROOT, name)) as f:
                text = f.read()
            own = name[:-len('.yaml')]
            base = re.search(r'^base: (\w+)', text, re.M)
            self.texts[own] = text
            self.bases[own] = base.group(1) if base else None
            if self.rate(own, 'gpu_power_w'):
                self.power[own] = self.rate(own, 'gpu_power_w')
            part = text.split('\ncoefficients:')[-1] if '\ncoefficients:' in text else ''
            for m in ENTRY.finditer(part):
                value, low, high = (float(x) for x in m.groups()[1:4])
                self.stated[own, m.group(1)] = value
                self.spread[own, m.group(1)] = math.log(high / low) / 2.5631 if 0 < low < high else 0

    def rate(self, own, name):
        """A number that the file states beside the coefficients, or None."""
        m = re.search(rf'^{name}: ([0-9.]+)', self.texts[own], re.M)
        return float(m.group(1)) if m else None

    def peak(self, chip):
        """TFLOP/s, dense in BF16, of the file or of the one it starts from."""
        return self.rate(chip, 'bf16_tflops') or self.peak(self.bases[chip])

    def place(self, chip, name):
        """The file that states the coefficient for a chip."""
        while chip and (chip, name) not in self.stated:
            chip = self.bases[chip]
        return chip

    def line(self, chip):
        """The chip, and what it starts from."""
        return [chip] + (self.line(self.bases[chip]) if self.bases[chip] else [])

    def value(self, chip, name, changed):
        key = (self.place(chip, name), name)
        return changed.get(key, self.stated[key])

    def write(self, changed, spreads, counts, source=None):
        """Puts values, 80 % intervals and counts into the files."""
        for (own, name), value in changed.items():
            half = math.exp(1.2816 * spreads[own, name])
            new = '  %s: {value: %.4g, low: %.4g, high: %.4g, unit: "\\g<unit>", n: %d,' % (
                name, value, value / half, value * half, counts[own, name])
            head, part = self.texts[own].split('\ncoefficients:')
            part, n = re.subn(r'^  %s: \{value: [^,]+, low: [^,]+, high: [^,]+, unit: "(?P<unit>[^"]*)", n: \d+,' % name,
                              new, part, flags=re.M)
            assert n == 1, (own, name)
            self.texts[own] = head + '\ncoefficients:' + part
        for own, text in self.texts.items():
            with open(os.path.join(ROOT, own + '.yaml'), 'w') as f:
                f.write(text)


def defaults():
    """The coefficients of machines that say nothing."""
    with open(os.path.join(ROOT, '..', '..', 'src', 'cost', 'coefficient.h')) as f:
        return {n: float(x) for n, x in re.findall(r'X\((\w+),[\s\\]*([0-9.e-]+)\)', f.read())}


def platform_file(path, chip, values):
    """A platform file that starts from `chip` and has other values, each with the log sd of its interval."""
    with open(path, 'w') as f:
        f.write(f'moeplan: 1\nkind: Platform\nid: {chip}-fit\nbase: {chip}\ncoefficients:\n')
        for name, (value, sd) in values.items():
            half = math.exp(1.2816 * sd)
            f.write(f'  {name}: {{value: {value:.9g}, low: {value / half:.9g}, high: {value * half:.9g}, unit: "1", n: 0,\n'
                    '    meaning: "fit", source: "fit"}\n')

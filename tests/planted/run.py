#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py MOEPLAN EXAMPLES: plants the mistakes of plants.py, one at a time, in the shipped examples. Each must be
found, as an error or a warning, at its line, and what the help says, followed, must give a file without findings but
for those of the example itself. Prints those that are not, and fails below 95 % of either."""
import json
import os
import re
import subprocess
import sys
import tempfile

from plants import EXAMPLES, PLANTS

ENOUGH = 0.95


def findings(binary, folder, name, text, options):
    """What is at least a warning: rule, line, message and help."""
    path = os.path.join(folder, os.path.basename(name))
    with open(path, 'w', newline='') as f:
        f.write(text)
    run = subprocess.run([binary, 'validate', '--format', 'json', *options, path], capture_output=True, text=True,
                         timeout=60, check=False)
    if run.returncode not in (0, 1, 2):
        sys.exit(f'{name}: exit {run.returncode}: {run.stderr}')
    report = json.loads(run.stdout)['files'][0]
    return [d for d in report['diagnostics'] if d['severity'] != 'info']


def replaced(line, old, new):
    """The line with the word put in; None where it is not there."""
    at = line.find(old)
    return None if at < 0 or not old else line[:at] + new + line[at + len(old):]


def offers(help_text, wrong):
    """What the help says to write instead of the wrong word, best first."""
    near = re.search(r'did you mean (.+?)\?', help_text)
    if near:
        return re.split(r', | or ', near.group(1))
    valid = re.search(r'(?:valid|one of):? ([^;]+)', help_text)
    if not valid:
        return []
    values = valid.group(1).split(', ')
    if re.fullmatch(r'-?\d+', wrong):  # the nearest in each direction
        values = sorted(values, key=lambda v: abs(float(v) - float(wrong)) if re.fullmatch(r'-?[\d.]+', v) else 1e18)
    return values


def followed(plant, text, at, diag):
    """Texts that follow the finding's help."""
    lines = text.split('\n')
    help_text = diag['help'] or ''
    for value in offers(help_text, plant.wrong):
        line = replaced(lines[at], plant.wrong, value)
        if line is not None:
            yield '\n'.join([*lines[:at], line, *lines[at + 1:]])
    if plant.words and re.search(plant.words, help_text):
        yield plant.mended


def check(binary, folder, plant):
    """'' when all is well, else what is not."""
    name, options = EXAMPLES[plant.example]
    own = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(own if name.startswith('programs/') else sys.argv[2], name)) as f:
        clean = f.read()
    before = findings(binary, folder, name, clean, options)
    text, line = plant.planted(clean)
    found = [d for d in findings(binary, folder, name, text, options)
             if (d['rule'], d['message']) not in [(b['rule'], b['message']) for b in before]]
    here = [d for d in found if d['line'] == line]
    if not here:
        return 'not found' if not found else f"found at {[(d['line'], d['rule']) for d in found]}, not at {line}"
    for d in here:
        for mended in followed(plant, text, line - 1, d):
            left = [x for x in findings(binary, folder, name, mended, options)
                    if (x['rule'], x['message']) not in [(b['rule'], b['message']) for b in before]]
            if not left:
                return ''
    return f"the help does not mend it: {[(d['rule'], d['help']) for d in here]}"


def main():
    binary = os.path.abspath(sys.argv[1])
    missed = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for plant in PLANTS:
            why = check(binary, folder, plant)
            if why:
                print(f'{plant.example}: {plant.kind}: {why}')
            missed += why.startswith(('not', 'found'))
            wrong += why.startswith('the help')
    n = len(PLANTS)
    kinds = len({p.kind for p in PLANTS})
    print(f'{n} mistakes of {kinds} kinds in {len(EXAMPLES)} examples: {n - missed} found at their place, '
          f'{n - missed - wrong} mended by their help')
    sys.exit(n - missed < ENOUGH * n or n - missed - wrong < ENOUGH * n)


if __name__ == '__main__':
    main()

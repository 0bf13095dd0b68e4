#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py PROGRAM SOURCE_DIR [all|golden|--bless]: every screen in a pseudo-terminal of 60 to 160 columns, with and without UTF-8
and colours. No line is longer than the terminal but what is never wrapped, what is said is the same at every width, and suggest's
first screen has at most 40 lines (`all`: for every model of the catalogue). `golden`: the screens at 80 columns are those in
tests/cli/screens/terminal; --bless writes them anew."""
import fcntl, json, os, pty, re, struct, subprocess, sys, termios, threading

program, source = map(os.path.realpath, sys.argv[1:3])
mode = sys.argv[3] if len(sys.argv) > 3 else ''
golden = os.path.join(source, 'tests/cli/screens/terminal')
WIDTHS, ESCAPES, END = (60, 80, 100, 160), re.compile('\x1b\\[[0-9;]*m'), b'<the end>'
QUESTION = ['qwen3-30b-a3b', '--gpus', '8', '--platform', 'h100']
PLAN, SLOW = 'tests/cli/screens/inputs/qwen3-235b.yaml', 'examples/slow-run/plan.yaml'
WORTH = [f'examples/is-it-worth-it/{name}.yaml' for name in ('base', 'overlap')]
BILL = ['--tokens', '1T', '--price', '2/h']
SCREENS = {
    'suggest': ['suggest', *QUESTION],
    'suggest-take': ['suggest', *QUESTION, '--take', '2', '--next', '--verify'],
    'suggest-why': ['suggest', *QUESTION, '--why', '--framework', 'megatron'],
    'suggest-none': ['suggest', 'deepseek-v3', '--gpus', '8', '--platform', 'h100', '--framework', 'automodel'],
    'validate': ['validate', 'examples/broken-recipe'],
    'validate-concise': ['validate', 'examples/recipes', '--format', 'concise'],
    'validate-statistics': ['validate', 'examples/recipes', 'examples/broken-recipe', '--statistics'],
    'estimate': ['estimate', PLAN],
    'estimate-explain': ['estimate', PLAN, '--explain'],
    'estimate-sweep': ['estimate', PLAN, '--sweep', 'mbs=1,2', '--sweep', 'pp=4,8', *BILL],
    'compare': ['compare', *WORTH],
    'compare-many': ['compare', *WORTH, SLOW, *BILL],
    'diagnose': ['diagnose', 'examples/slow-run/train.log', '--plan', SLOW],
    'sizing': ['suggest', 'qwen3-30b-a3b', '--gpus', '8..32', '--platform', 'h100', *BILL],
    'explain-rule': ['explain', 'ep-divides-experts'],
    'explain-parameter': ['explain', 'tp'],
    'explain-word': ['explain', 'bubble'],
    'help': ['help'],
    'help-suggest': ['suggest', '--help'],
    'models': ['models'],
    'platforms': ['platforms'],
    'version': ['version'],
}
failed = []


def fail(what, why, line=''):
    failed.append(f'{what}: {why}' + (f'\n  {line}' if line else ''))


def screen(argv, width, rows=500, **env):
    """What the program prints on a terminal of so many columns."""
    base = {'PATH': os.environ['PATH'], 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'HOME': '/nonexistent'}
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, width, 0, 0))
    child = subprocess.Popen([program, *argv], stdin=slave, stdout=slave, stderr=slave, cwd=source, env={**base, **env})
    # A mark behind the child's last byte: what it wrote may still be on its way when it has ended.
    threading.Thread(target=lambda: (child.wait(), os.write(slave, END)), daemon=True).start()
    text = b''
    while not text.endswith(END):
        text += os.read(master, 1 << 16)
    os.close(master)
    os.close(slave)
    return text[:-len(END)].decode().replace('\r\n', '\n')


def is_whole(line):
    """What is never wrapped: a finding's first line, and commands."""
    return re.match(r'\S*:( |\d+:\d+: )(error|warning|info)\[', line) or re.match(r' *(= more: )?moeplan [a-z]+ ', line.lstrip())


def words(text):
    """The text without what depends on the width: line ends, and what is cut out of a source's lines."""
    lines = [l for l in text.split('\n') if not re.match(r' *\d* \| ', l)]
    return re.sub(r'\s', '', ''.join(lines))


def check_widths(name, argv):
    shown = {w: screen([*argv, '--color', 'never'], w) for w in WIDTHS}
    for width, text in shown.items():
        for line in text.split('\n'):
            if len(line) > width and not is_whole(line):
                fail(f'{name} at {width} columns', f'a line of {len(line)}', line)
        if 'no room for' not in text and words(text) != words(shown[WIDTHS[-1]]):
            fail(name, f'says something else at {width} columns')
    return shown[80]


def check_forms(name, argv, plain):
    if ESCAPES.sub('', screen(argv, 80)) != plain:
        fail(name, 'says something else in colour')
    ascii_text = screen([*argv, '--color', 'never'], 80, LC_ALL='C')
    if not ascii_text.isascii():
        fail(name, 'is not ASCII in the C locale', next(l for l in ascii_text.split('\n') if not l.isascii()))


def check_golden(name, plain):
    path = os.path.join(golden, name + '.txt')
    plain = re.sub(r'[\d,]+ rules? skipped', 'N rules skipped', plain)
    if mode == '--bless':
        os.makedirs(golden, exist_ok=True)
        open(path, 'w').write(plain)
    elif not os.path.exists(path) or open(path).read() != plain:
        fail(name, f'is not what {os.path.relpath(path, source)} has; tools/bless.sh writes it anew')


def check_length():
    models = json.loads(subprocess.run([program, 'models', '--format', 'json'], capture_output=True).stdout)['models']
    for model in models[::1 if mode == 'all' else 12]:
        for gpus, platform in (('8', 'h100'), ('256', 'gb200')):
            argv = ['suggest', model['id'], '--gpus', gpus, '--platform', platform]
            for width in WIDTHS[1:] if mode == 'all' else [80]:
                lines = screen(argv, width).rstrip('\n').count('\n') + 1
                if lines > 40:
                    fail(' '.join(argv), f'{lines} lines at {width} columns')


def check_colour_words():
    def piped(*argv, **env):
        return subprocess.run([program, 'validate', 'examples/broken-recipe', *argv], cwd=source, capture_output=True,
                              env={'PATH': os.environ['PATH'], 'TERM': 'xterm', **env}).stdout.decode()
    if '\x1b' in piped() or '\x1b' in piped(CLICOLOR_FORCE='1', NO_COLOR='1') or '\x1b' in piped('--color', 'never', CLICOLOR_FORCE='1'):
        fail('colours', 'there are some where none are wanted')
    if '\x1b' not in piped(CLICOLOR_FORCE='1') or '\x1b' not in piped('--color', 'always', NO_COLOR='1'):
        fail('colours', 'there are none where they are wanted')
    if '\x1b' in screen(['validate', 'examples/broken-recipe'], 80, NO_COLOR='1'):
        fail('colours', 'NO_COLOR is not heeded')


def check_pager():
    argv, pager = ['explain', 'ep-divides-experts'], {'MOEPLAN_PAGER': 'sed s/^/paged:/'}
    if 'paged:' not in screen(argv, 80, rows=10, **pager):
        fail('pager', 'a long text goes past it')
    if 'paged:' in screen([*argv, '--no-pager'], 80, rows=10, **pager) or 'paged:' in screen(argv, 80, rows=500, **pager):
        fail('pager', 'is used where it is not wanted, or for a short text')
    if 'Wrong' not in screen(argv, 80, rows=10, MOEPLAN_PAGER='/nonexistent/pager'):
        fail('pager', 'one that is not there takes the text away')


for name, argv in SCREENS.items():
    if mode in ('golden', '--bless'):
        check_golden(name, screen([*argv, '--color', 'never'], 80))
    else:
        check_forms(name, argv, check_widths(name, argv))
if mode not in ('golden', '--bless'):
    check_length()
    check_colour_words()
    check_pager()
print('\n'.join(failed))
sys.exit(bool(failed))

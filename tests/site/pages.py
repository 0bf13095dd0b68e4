#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py GENERATE_SITE PROGRAM SOURCE_DIR: the documentation as HTML. Every link inside it holds, every page is reached from its
start, every rule has its page, and the search, run by node where there is one, finds a rule by its framework's error text."""
import html.parser, json, os, re, shutil, subprocess, sys, tempfile

generate, program, source = map(os.path.realpath, sys.argv[1:4])
failed = []


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.twice = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ('href', 'src'):
                self.links.append(value)
            if name == 'id':
                if value in self.ids:
                    self.twice.append(value)
                self.ids.add(value)


def read_pages(folder):
    pages = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.html') and '/files' not in path[len(folder):]:
                full = os.path.join(path, name)
                pages[os.path.relpath(full, folder)] = Page(open(full).read())
    return pages


def check_links(folder, pages):
    """Each link leads to a file, and its anchor is there; the pages that links lead to from the start."""
    to = {}
    for name, page in pages.items():
        failed.extend(f'{name}: the anchor {twice} is there twice' for twice in page.twice)
        to[name] = set()
        for link in page.links:
            if '://' in link:
                continue
            path, _, anchor = link.partition('#')
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.isfile(os.path.join(folder, target)):
                failed.append(f'{name}: {link} leads nowhere')
            elif anchor and anchor not in pages[target].ids:
                failed.append(f'{name}: {link} has no such anchor')
            to[name].add(target)
    reached, next_ones = set(), {'index.html'}
    while next_ones:
        reached |= next_ones
        next_ones = set().union(*(to.get(n, ()) for n in next_ones)) - reached
    failed.extend(f'{name} is not reached from the start' for name in sorted(pages.keys() - reached))


def rules():
    out = subprocess.run([program, 'rules', '--format', 'json'], capture_output=True, check=True).stdout
    return json.loads(out)['rules']


def check_contents(pages):
    for rule in rules():
        if f'rule/{rule["id"]}.html' not in pages:
            failed.append(f'{rule["id"]} has no page')
    for page in os.listdir(os.path.join(source, 'docs')):
        if page.endswith('.md') and page != 'README.md' and page[:-3] + '.html' not in pages:
            failed.append(f'docs/{page} is not on the site')


SEARCHES = '''
const { find, prepare } = require(process.argv[1] + '/site.js')
const fs = require('fs'), vm = require('vm')
const index = vm.runInNewContext(fs.readFileSync(process.argv[1] + '/search.js', 'utf8') + '; searchIndex')
const prepared = prepare(index)
const asked = index.filter(item => item[4]).map(item => [item[0], 'AssertionError: ' + item[4].split('\\n')[0].replace('…', 'some 12 more')])
console.log(JSON.stringify({ errors: asked.map(([id, text]) => [id, find(prepared, text).slice(0, 8).map(f => f.title)]),
  words: ['ep-divides-experts', 'expert_model_parallel_size', '--expert-model-parallel-size', '--micro-batch-size', 'bubble', 'deepseek-v3', 'S1.9', 'gb200', 'zzzz']
    .map(word => find(prepared, word).slice(0, 3).map(f => f.address)) }))
'''
FOUND = ['rule/ep-divides-experts.html', 'parameters.html#expert_model_parallel_size', 'parameters.html#expert_model_parallel_size',
         'parameters.html#micro_batch_size',
         'glossary.html#bubble', 'models/index.html#deepseek-v3', 'guides.html#S1.9', 'platforms/index.html#gb200', None]


def check_search(folder):
    if not shutil.which('node'):
        print('no node here: the search is not tried')
        return
    found = json.loads(subprocess.run(['node', '-e', SEARCHES, folder], capture_output=True, check=True).stdout)
    if len(found['errors']) < 300:
        failed.append(f'only {len(found["errors"])} rules know an error text')
    failed.extend(f'{rule} is not found by its own error text, but {titles}' for rule, titles in found['errors'] if rule not in titles)
    for want, got in zip(FOUND, found['words']):
        if (want not in got) if want else got:
            failed.append(f'search: {want} is not among {got}')


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([generate, source, folder], check=True)
    pages = read_pages(folder)
    check_links(folder, pages)
    check_contents(pages)
    check_search(folder)
print('\n'.join(failed))
sys.exit(bool(failed))

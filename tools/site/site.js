// SPDX-License-Identifier: Apache-2.0
// The site's search: what is typed, against search.js, which is loaded with the first use. A pasted error finds the rules that know
// its text, as `moeplan explain --error` does; other words count by how rare they are.
'use strict'

const MOST = 15

// Blanks, quotes and case do not count.
const normalise = text => text.toLowerCase().replace(/["'`]/g, '').replace(/\s+/g, ' ').trim()
const wordsOf = text => normalise(text).match(/[\p{L}\p{N}_]+/gu) ?? []

// Whether the pattern's parts, which "…" separates, stand in the text in their order.
function patternMatches (text, pattern) {
  let at = 0
  return pattern.split('…').every(part => {
    const found = text.indexOf(part.trim(), at)
    at = found + part.trim().length
    return found >= 0
  })
}

// An index of [title, address, page, text, error texts] made ready once.
function prepare (index) {
  const words = new Map()
  const items = index.map(([title, address, page, text, errors], i) => {
    for (const word of new Set(wordsOf(title + ' ' + text + ' ' + errors))) {
      if (!words.has(word)) words.set(word, [])
      words.get(word).push(i)
    }
    const patterns = errors ? errors.split('\n').map(normalise) : []
    return { title, address, page, text, patterns, name: normalise(title), said: normalise(text), titleWords: new Set(wordsOf(title)) }
  })
  return { items, words }
}

// What the words of a query are worth for each item; the last one may be unfinished.
function wordScores ({ items, words }, query) {
  const scores = new Map()
  const asked = [...new Set(wordsOf(query))]
  asked.forEach((word, k) => {
    const unfinished = k === asked.length - 1 && word.length > 2 && !words.has(word)
    const same = unfinished ? [...words.keys()].filter(w => w.startsWith(word)) : [word]
    for (const w of same) {
      const list = words.get(w) ?? []
      const rare = Math.log(1 + items.length / list.length)
      for (const i of list) scores.set(i, (scores.get(i) ?? 0) + rare * (items[i].titleWords.has(w) ? 3 : 1))
    }
  })
  return scores
}

// How much of an error text that the item knows stands in the query, or the query in it.
function errorScore (item, asked) {
  return Math.max(0, ...item.patterns.map(p =>
    patternMatches(asked, p) ? 1000 + p.length : asked.length > 7 && p.includes(asked) ? 500 + asked.length : 0))
}

// Whether a parameter is spelt so in some framework: its entry's text lists its spellings.
const spells = (item, asked) => item.page === 'Parameters' && item.said.split(' ').includes(asked)

function find (prepared, query) {
  const asked = normalise(query)
  if (asked.length < 2) return []
  const scores = wordScores(prepared, asked)
  prepared.items.forEach((item, i) => {
    const name = item.name === asked || spells(item, asked) ? 800 : item.name.startsWith(asked) ? 30 : 0
    const phrase = asked.length > 3 && item.said.includes(asked) ? 40 : 0
    const more = name + phrase + errorScore(item, asked)
    if (more) scores.set(i, (scores.get(i) ?? 0) + more)
  })
  return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MOST).map(([i]) => prepared.items[i])
}

function start (root) {
  const form = document.querySelector('form[role=search]')
  const input = form.querySelector('input')
  const results = document.getElementById('results')
  let prepared

  function load () {
    if (load.done) return
    load.done = true
    const script = document.createElement('script')
    script.src = root + 'search.js'
    script.onload = () => { prepared = prepare(searchIndex); show() }
    document.head.append(script)
  }

  function entry (item) {
    const line = document.createElement('li')
    const link = document.createElement('a')
    const text = document.createElement('span')
    link.href = root + item.address
    link.textContent = item.title
    text.textContent = (item.page === item.title ? ' ' : ` ${item.page} · `) + item.text.slice(0, 140)
    line.append(link, text)
    return line
  }

  function show () {
    if (!prepared) return
    const found = find(prepared, input.value)
    const status = document.createElement('p')
    const list = document.createElement('ul')
    status.setAttribute('role', 'status')
    status.textContent = found.length ? `${found.length === MOST ? 'the best ' : ''}${found.length} found` : 'nothing found'
    list.append(...found.map(entry))
    results.replaceChildren(status, list)
    results.hidden = input.value.trim().length < 2
  }

  // Up and down go through the input and the results, Escape back.
  function move (step, event) {
    const stops = [input, ...results.querySelectorAll('a')]
    const next = stops[stops.indexOf(document.activeElement) + step]
    if (!next || results.hidden) return
    next.focus()
    event.preventDefault()
  }

  document.addEventListener('keydown', event => {
    const among = event.target === input || results.contains(event.target)
    if (event.key === '/' && event.target.tagName !== 'INPUT') { input.focus(); event.preventDefault() }
    if (among && event.key === 'ArrowDown') move(1, event)
    if (among && event.key === 'ArrowUp') move(-1, event)
    if (among && event.key === 'Escape') { input.value = ''; show(); input.focus() }
  })
  input.addEventListener('focus', load)
  input.addEventListener('input', show)
  form.addEventListener('submit', event => {
    event.preventDefault()
    results.querySelector('a')?.focus()
  })
  form.hidden = false
  // What is wider than the page is scrolled by keys too.
  for (const box of document.querySelectorAll('.wide, pre')) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
}

if (typeof document === 'undefined') module.exports = { find, prepare }
else start(document.currentScript.dataset.root)

// SPDX-License-Identifier: Apache-2.0
// browser.cjs GENERATE_SITE SOURCE_DIR [FOLDER]: the site in a headless Chromium, as a reader has it: from files, light and dark, at a
// phone's and a desk's width. axe-core finds no fault, no page is wider than the window, the search is used by keys alone. With FOLDER,
// pictures of it all go there. Exit status 77: no Chromium, or the npm packages of package.json are not here (tools/deps.sh all).
'use strict'
const { execFileSync } = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { pathToFileURL } = require('url')

const [generate, source, pictures] = process.argv.slice(2).map(p => path.resolve(p))
const PAGES = ['index.html', 'rules/index.html', 'rules/megatron-moe.html', 'rule/ep-divides-experts.html', 'guides.html', 'parameters.html',
  'models/index.html', 'platforms/index.html', 'start/tonight.html', 'using.html', 'accuracy.html']
const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 900 } }
const QUICK = new Set(['parameters.html', 'guides.html', 'accuracy.html']) // thousands of cells: judged once
const failed = []

function skip (why) {
  console.log(why)
  process.exit(77)
}

function chromium () {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const found = (process.env.PATH ?? '').split(':').map(folder => path.join(folder, name)).find(p => fs.existsSync(p))
    if (found) return found
  }
  return skip('no Chromium here')
}

function packages () {
  try {
    return { puppeteer: require('puppeteer-core'), axe: fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8') }
  } catch {
    return skip('puppeteer-core or axe-core is not here: npm install --prefix tests/site')
  }
}

async function judge (page, axe, what) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }))
  for (const v of violations) failed.push(`${what}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')}`)
}

async function look (page, site, axe) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const scheme of ['light', 'dark']) {
      await page.setViewport(viewport)
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      for (const name of PAGES) {
        if (QUICK.has(name) && !pictures && (size !== 'phone' || scheme !== 'light')) continue
        const what = `${name}, ${size}, ${scheme}`
        await page.goto(pathToFileURL(path.join(site, name)).href)
        const { inside, width } = await page.evaluate(() => ({ inside: document.documentElement.scrollWidth, width: innerWidth }))
        if (inside > width) failed.push(`${what}: ${inside} wide`)
        if (!QUICK.has(name) || (size === 'phone' && scheme === 'light')) await judge(page, axe, what)
        if (pictures) await page.screenshot({ path: path.join(pictures, `${name.replace(/\W/g, '-')}-${size}-${scheme}.png`) })
      }
    }
  }
}

// By keys alone: "/" to the search, an error text, down to the first result, Enter.
async function search (page, site, axe) {
  await page.setViewport(SIZES.desk)
  await page.goto(pathToFileURL(path.join(site, 'using.html')).href)
  await page.keyboard.press('/')
  await page.keyboard.type('AssertionError: Number of experts should be a multiple of expert model parallel_size.')
  await page.waitForSelector('#results a')
  await judge(page, axe, 'search results')
  if (pictures) await page.screenshot({ path: path.join(pictures, 'search.png') })
  await page.keyboard.press('ArrowDown')
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
  if (!page.url().endsWith('/rule/ep-divides-experts.html')) failed.push(`the search leads to ${page.url()}`)
}

// The first Tab stop leads past the menu.
async function skipMenu (page, site) {
  await page.goto(pathToFileURL(path.join(site, 'index.html')).href)
  await page.keyboard.press('Tab')
  const first = await page.evaluate(() => document.activeElement.className)
  if (first !== 'skip') failed.push(`the first stop of the Tab key is ${first || 'nothing'}`)
}

async function main () {
  const executablePath = chromium()
  const { puppeteer, axe } = packages()
  const site = fs.mkdtempSync(path.join(os.tmpdir(), 'site-'))
  execFileSync(generate, [source, site])
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage()
    page.on('pageerror', error => failed.push(`script: ${error.message}`))
    await look(page, site, axe)
    await search(page, site, axe)
    await skipMenu(page, site)
  } finally {
    await browser.close()
    fs.rmSync(site, { recursive: true })
  }
  console.log(failed.join('\n'))
  process.exit(failed.length ? 1 : 0)
}

main()

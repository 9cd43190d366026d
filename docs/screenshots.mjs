// The pictures of the README: `node docs/screenshots.mjs`, after `npm run compile`. CHROMIUM names the browser, as for the tests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../', import.meta.url))
const PICTURES = [
  { file: 'docs.webp', path: '/docs', ready: '.opblock-tag, h2', height: 760 },
  { file: 'board.webp', path: '/live/', ready: '.card', height: 640 },
]

/** Draws a PNG into a canvas, which can write WebP. */
const toWebp = `async (png) => {
  const image = await createImageBitmap(await (await fetch(png)).blob())
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
  canvas.getContext('2d').drawImage(image, 0, 0)
  return canvas.toDataURL('image/webp', 0.85)
}`

const program = spawn(process.execPath, ['examples/run.mjs', 'league'], {
  cwd: root,
  env: { ...process.env, PORT: '0' },
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
})
try {
  let said = ''
  while (!said.includes('Ctrl-C')) said += (await once(program.stdout, 'data'))[0]
  const [, port] = /localhost:(\d+)/.exec(said)
  const blank = await browser.newPage()
  for (const { file, path, ready, height } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1200, height }, colorScheme: 'light' })
    await page.goto(`http://localhost:${port}${path}`)
    await page.locator(ready).first().waitFor()
    const png = `data:image/png;base64,${(await page.screenshot({ animations: 'disabled' })).toString('base64')}`
    const webp = await blank.evaluate(`(${toWebp})(${JSON.stringify(png)})`)
    const picture = Buffer.from(webp.split(',')[1], 'base64')
    await writeFile(`${root}docs/images/${file}`, picture)
    console.log(`docs/images/${file}: ${picture.length} bytes`)
  }
} finally {
  await browser.close()
  program.kill()
}

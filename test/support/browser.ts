import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/**
 * Whether the tests that need a browser run. Without a browser, they are skipped with a message. If `REQUIRE_BROWSER`
 * is set, they fail.
 */
export const hasBrowser: boolean = existsSync(executablePath) || Boolean(process.env.REQUIRE_BROWSER)

if (!hasBrowser) {
  console.warn(`There is no ${executablePath}: THE TESTS IN A BROWSER ARE LEFT OUT. CHROMIUM names another one.`)
}

/** Starts Chromium without a visible window. */
export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    // Playwright installs no signal handlers, because the test process has its own.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
}

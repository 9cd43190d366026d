import { existsSync } from 'node:fs'
import express, { type Express } from 'express'
import { league } from '../league/app.js'
import { connect } from '../league/models.js'
import { seed } from '../league/seed.js'
import type { Example } from '../server.js'

/**
 * Folder of the example's own package, which has the telemetry libraries. This file is compiled to a folder three
 * levels below the root.
 */
const PACKAGE = new URL('../../../examples/observed/telemetry/', import.meta.url)

/** The metrics of the application, and the function that ends telemetry. */
export interface Telemetry {
  readonly contentType: string
  readonly metrics: () => Promise<string>
  readonly stop: () => Promise<void>
}

/** Subscribes to the package's diagnostics channels. Returns null if the telemetry libraries are not installed. */
export async function startTelemetry(): Promise<Telemetry | null> {
  if (!existsSync(new URL('node_modules/prom-client', PACKAGE))) return null
  const { startTelemetry } = await import(new URL('index.js', PACKAGE).href)
  return startTelemetry()
}

/** Creates the example: the league, with the route `/metrics`. */
export function observed(telemetry: Telemetry | null): Example {
  const app = (): Express => {
    const whole = express()
    if (telemetry !== null) {
      whole.get('/metrics', async (_req, res) => {
        res.type(telemetry.contentType).send(await telemetry.metrics())
      })
    }
    return whole.use(league())
  }
  const release = (): Promise<void> => telemetry?.stop() ?? Promise.resolve()
  return { name: 'observed', connect, app, seed, release }
}

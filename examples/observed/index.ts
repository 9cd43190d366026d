// `npm run example observed` starts the league with telemetry. Requests and statements become spans and metrics.

import { printSamples, run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { observed, startTelemetry } from './app.js'

const telemetry = await startTelemetry()

function greet({ port }: ExampleServer): void {
  console.log(`The league is at http://localhost:${port}.`)
  if (telemetry === null) {
    console.log(
      'Nobody listens to it yet: `npm ci` in examples/observed/telemetry brings OpenTelemetry and prom-client.',
    )
  } else if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) {
    console.log('Its spans go to this console, or with OTEL_EXPORTER_OTLP_ENDPOINT to a collector.')
  }
  const at = `localhost:${port}`
  printSamples([
    {
      title: 'A list, with a span for it and one for each of its statements',
      command: `curl -g '${at}/api/players?filter=Team.Name=Lakers'`,
    },
    {
      title: 'A write, with those of its transaction',
      command: `curl -X PATCH '${at}/api/players/1' -H 'Content-Type: application/json' -d '{"level":7}'`,
    },
    { title: 'A problem, which is counted', command: `curl '${at}/api/players/99'` },
    { title: 'The metrics', command: `curl '${at}/metrics'` },
  ])
}

await run('npm run example observed', () => observed(telemetry), greet)

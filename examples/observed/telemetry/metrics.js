// Creates metrics for Prometheus from the diagnostics channels of sequelize-crud-router. You can copy this file
// unchanged.

import { subscribe } from 'node:diagnostics_channel'
import { Counter, Histogram, register } from 'prom-client'

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]
const ROWS = [0, 1, 10, 100, 1000, 10_000, 100_000]

/** Starts to count. Every label has few values: names that the application has chosen, and codes. */
export function measureCrud(registry = register) {
  const registers = [registry]
  const requests = new Histogram({
    name: 'crud_request_duration_seconds',
    help: 'From the first look at a request until its answer was handed over.',
    labelNames: ['resource', 'operation', 'status'],
    buckets: SECONDS,
    registers,
  })
  const rows = new Histogram({
    name: 'crud_request_rows',
    help: 'Records in an answer, or deleted.',
    labelNames: ['resource', 'operation'],
    buckets: ROWS,
    registers,
  })
  const aborted = new Counter({
    name: 'crud_requests_aborted_total',
    help: 'Requests whose client had gone before it had its answer.',
    labelNames: ['resource'],
    registers,
  })
  const statements = new Histogram({
    name: 'crud_statement_duration_seconds',
    help: 'Waiting for a connection included.',
    labelNames: ['command'],
    buckets: SECONDS,
    registers,
  })
  const errors = new Counter({
    name: 'crud_errors_total',
    help: 'Problems sent, statements refused, events not told.',
    labelNames: ['kind', 'code'],
    registers,
  })
  const delays = new Histogram({
    name: 'crud_event_delay_seconds',
    help: 'From the commit until an event was sent.',
    labelNames: ['resource', 'event'],
    buckets: SECONDS,
    registers,
  })

  on('request', (message) => {
    const { resource, status, duration, error } = message
    const operation = message.operation ?? ''
    requests.observe({ resource, operation, status }, duration / 1000)
    if (message.rows !== null) rows.observe({ resource, operation }, message.rows)
    if (message.aborted) aborted.inc({ resource })
    if (error !== null) errors.inc({ kind: 'request', code: error.code })
  })
  on('statement', ({ command, duration, error }) => {
    statements.observe({ command }, duration / 1000)
    if (error !== null) errors.inc({ kind: 'statement', code: error.code ?? error.name })
  })
  on('event', ({ resource, event, waited, duration, error }) => {
    delays.observe({ resource, event }, (waited + duration) / 1000)
    if (error !== null) errors.inc({ kind: 'event', code: error.code ?? error.name })
  })
  return registry
}

function on(kind, hear) {
  subscribe(`tracing:sequelize-crud-router.${kind}:asyncEnd`, hear)
}

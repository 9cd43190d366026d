// Creates spans for OpenTelemetry from the diagnostics channels of sequelize-crud-router. You can copy this file
// unchanged.

import { subscribe } from 'node:diagnostics_channel'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'

/** Spans by message. One message object passes through all channels of a request, a statement or an event. */
const spans = new WeakMap()

/** Starts to create spans. Statements are children of their request. Events have a link to their request. */
export function traceCrud(tracer = trace.getTracer('sequelize-crud-router')) {
  on('request', 'start', (message) => {
    const { resource, relation, route, method, operation } = message
    const attributes = {
      'crud.resource': resource,
      'crud.relation': relation ?? undefined,
      'crud.operation': operation ?? undefined,
      'http.request.method': method,
      'http.route': route,
    }
    spans.set(message, tracer.startSpan(`${operation ?? method} ${resource}`, { attributes }))
  })
  on('request', 'asyncEnd', (message) => {
    const { operation, status, rows, statements, aborted, error } = message
    end(message, {
      'crud.operation': operation ?? undefined,
      'crud.aborted': aborted,
      'crud.rows': rows ?? undefined,
      'crud.statements': statements,
      'http.response.status_code': status,
      // An error of the client is not an error of the server, so it is only an attribute.
      ...(error === null ? {} : { 'error.type': error.code }),
    })
  })

  on('statement', 'start', (message) => {
    const parent = spans.get(message.cause)
    const within = parent === undefined ? context.active() : trace.setSpan(context.active(), parent)
    const attributes = {
      'db.system.name': message.dialect,
      'db.operation.name': message.command,
      'db.query.text': message.text,
    }
    spans.set(message, tracer.startSpan(message.command, { kind: SpanKind.CLIENT, attributes }, within))
  })
  on('statement', 'asyncEnd', (message) => {
    const { rows, error } = message
    end(message, {
      'db.response.returned_rows': rows ?? undefined,
      ...(error === null ? {} : { 'db.response.status_code': error.code ?? undefined, 'error.type': error.name }),
    })
  })

  on('event', 'start', (message) => {
    const origin = message.cause === null ? undefined : spans.get(message.cause)
    const links = origin === undefined ? [] : [{ context: origin.spanContext() }]
    const attributes = { 'crud.resource': message.resource, 'messaging.destination.name': message.path }
    const options = { kind: SpanKind.PRODUCER, root: true, attributes, links }
    spans.set(message, tracer.startSpan(`${message.event} ${message.resource}`, options))
  })
  on('event', 'asyncEnd', (message) => {
    const { waited, payloads, rooms, recipients } = message
    end(message, {
      'crud.waited': waited,
      'crud.payloads': payloads,
      'crud.rooms': rooms,
      'crud.recipients': recipients,
    })
  })
}

function on(kind, step, hear) {
  subscribe(`tracing:sequelize-crud-router.${kind}:${step}`, hear)
}

function end(message, attributes) {
  const span = spans.get(message)
  // The span is missing if tracing started after the beginning of the message's work.
  if (span === undefined) return
  span.setAttributes(attributes)
  const isFailure = message.kind === 'request' ? message.status >= 500 : message.error !== null
  if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR, message: message.error?.name })
  span.end()
}

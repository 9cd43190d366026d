// Sets up telemetry as each application does for itself: the target of spans, and the metrics at /metrics.

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { measureCrud } from './metrics.js'
import { traceCrud } from './spans.js'

/**
 * Sends spans to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`, or to the console without it. Returns the metrics and
 * a function that ends telemetry.
 */
export function startTelemetry() {
  const processor = process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    ? new BatchSpanProcessor(new OTLPTraceExporter())
    : new SimpleSpanProcessor(new ConsoleSpanExporter())
  const provider = new NodeTracerProvider({ spanProcessors: [processor] })
  provider.register()
  traceCrud()
  const registry = measureCrud()
  return {
    contentType: registry.contentType,
    metrics: () => registry.metrics(),
    stop: () => provider.shutdown(),
  }
}

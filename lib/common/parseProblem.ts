import { Problem, type ProblemOptions } from './problem.js'

const TEXTS = ['code', 'type', 'title', 'detail'] as const

/**
 * Parses the problem of an error response. Without a problem as body, the status determines the problem. A status that
 * is not an error becomes 403.
 */
export function parseProblem(status: number, contentType: string, text: string): Problem {
  const isError = Number.isInteger(status) && status >= 400 && status <= 599
  const body = contentType.startsWith('application/problem+json') ? parseObject(text) : {}
  const texts = TEXTS.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : []))
  const { errors } = body
  const options: ProblemOptions = {
    status: isError ? status : 403,
    ...Object.fromEntries(texts),
    ...(typeof errors === 'object' && errors !== null
      ? { errors: errors as NonNullable<ProblemOptions['errors']> }
      : {}),
  }
  return new Problem(options)
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

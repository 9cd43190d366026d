import type { Request, RequestHandler, Response } from 'express'
import type { Intent } from '../../types/intent.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { readArray, readObject } from './body.js'
import { readList } from './list.js'
import { matchOf } from './match.js'
import type { Readable } from './parameters.js'

/** What a request asks for, as written. @throws Problem for what cannot be read */
export async function parse(
  resource: Resource,
  operation: OperationName,
  parser: RequestHandler,
  req: Request,
  res: Response,
  readable: Readable,
): Promise<Intent> {
  const key = (): string => String(req.params.id ?? '')
  const match = (): ReturnType<typeof matchOf> => matchOf(req.headers['if-match'])
  switch (operation) {
    case 'getById':
      return { kind: 'get', key: key() }
    case 'getList':
      return readList(resource, req, readable)
    case 'create':
      return { kind: 'create', body: await readObject(resource, parser, req, res) }
    case 'update':
      return { kind: 'update', key: key(), match: match(), body: await readObject(resource, parser, req, res) }
    case 'delete':
      return { kind: 'delete', key: key(), match: match() }
    case 'restore':
      return { kind: 'restore', key: key() }
    case 'bulkCreate':
      return { kind: 'bulkCreate', bodies: await readArray(resource, parser, req, res) }
    case 'bulkDelete':
      return { kind: 'bulkDelete', keys: await readArray(resource, parser, req, res) }
  }
}

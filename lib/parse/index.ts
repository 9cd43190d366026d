import type { Request, RequestHandler, Response } from 'express'
import type { Intent } from '../../types/intent.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { readArray, readObject } from './body.js'
import { readList } from './list.js'

/** What a request asks for, as written. @throws Problem for what cannot be read */
export async function parse(
  resource: Resource,
  operation: OperationName,
  parser: RequestHandler,
  req: Request,
  res: Response,
): Promise<Intent> {
  const key = (): string => String(req.params.id ?? '')
  switch (operation) {
    case 'getById':
      return { kind: 'get', key: key() }
    case 'getList':
      return readList(resource, req)
    case 'create':
      return { kind: 'create', body: await readObject(resource, parser, req, res) }
    case 'update':
      return { kind: 'update', key: key(), body: await readObject(resource, parser, req, res) }
    case 'delete':
      return { kind: 'delete', key: key() }
    case 'bulkCreate':
      return { kind: 'bulkCreate', bodies: await readArray(resource, parser, req, res) }
    case 'bulkDelete':
      return { kind: 'bulkDelete', keys: await readArray(resource, parser, req, res) }
  }
}

// The only declarations of Express outside lib/http: what options and contexts of the host are typed by.

export type { Request, RequestHandler, Response, Router } from 'express'

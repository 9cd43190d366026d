// The only declarations of Express outside lib/http, for the types of options and contexts.

export type { Request, RequestHandler, Response, Router } from 'express'

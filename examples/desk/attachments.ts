import express, { type Router } from 'express'
import { type CrudRouter, Problem } from 'sequelize-crud-router'
import { Attachment, Ticket } from './models.js'

/** Routes that upload and download the bytes of files. The resource of attachments has only their metadata. */
export function attachments(tickets: CrudRouter<Ticket>): Router {
  const router = express.Router()
  const bytes = express.raw({ type: () => true, limit: '1mb' })

  /** Finds the ticket of a request. @throws Problem 404 if the caller may not see the ticket */
  async function ticketOf(req: express.Request): Promise<Ticket> {
    const ticket = await Ticket.findOne(await tickets.findOptions(req, { keys: String(req.params.id), select: 'id' }))
    if (ticket === null) throw new Problem({ status: 404 })
    return ticket
  }

  router.put('/api/tickets/:id/attachments/:name', tickets.guard('getById'), bytes, async (req, res) => {
    if (!Buffer.isBuffer(req.body)) throw new Problem({ status: 400, detail: 'Send the bytes of a file.' })
    const { id: ticketId } = await ticketOf(req)
    const name = String(req.params.name)
    const type = req.headers['content-type'] ?? 'application/octet-stream'
    const { id } = await Attachment.create({ ticketId, name, type, size: req.body.length, content: req.body })
    res.status(201).location(`/api/attachments/${id}`).json({ id, ticketId, name, type, size: req.body.length })
  })

  router.get('/api/tickets/:id/attachments/:name', tickets.guard('getById'), async (req, res) => {
    const { id: ticketId } = await ticketOf(req)
    const file = await Attachment.findOne({
      where: { ticketId, name: String(req.params.name) },
      order: [['id', 'DESC']],
    })
    if (file === null) throw new Problem({ status: 404 })
    // The browser saves the file and never shows it, because an uploaded file may be a page with scripts.
    res
      .attachment(file.name)
      .type('application/octet-stream')
      .set('X-Content-Type-Options', 'nosniff')
      .send(file.content)
  })
  return router
}

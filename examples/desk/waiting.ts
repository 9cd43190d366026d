import type { ComputedField } from 'sequelize-crud-router'
import { Message, type Ticket } from './models.js'

/**
 * Instant since which the requester waits for an answer. null for a closed ticket, and if the last message is from
 * another person.
 */
export const waitingSince: ComputedField<Ticket> = {
  type: 'datetime',
  nullable: true,
  needs: ['id', 'requesterId', 'status', 'openedAt'],
  resolve: async (tickets, { transaction }) => {
    const messages = await Message.findAll({
      where: { ticketId: tickets.map(({ id }) => id) },
      order: ['id'],
      transaction,
    })
    return tickets.map(({ id, requesterId, status, openedAt }) => {
      let since: string | Date | null = openedAt
      for (const { ticketId, authorId, sentAt } of messages) {
        if (ticketId === id) since = authorId === requesterId ? (since ?? sentAt) : null
      }
      return status === 'closed' ? null : since
    })
  },
}

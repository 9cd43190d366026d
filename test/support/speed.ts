// CRUD_SPEED=off disables all optimizations. Replies stay the same, but the number of statements changes.

/** False under CRUD_SPEED=off: Sequelize sends every statement, and writes go through instances. */
export const isFast = process.env.CRUD_SPEED !== 'off'

// CRUD_SPEED=off goes round everything that is kept for speed. Replies are the same then; the number of statements is not.

/** False under CRUD_SPEED=off: Sequelize sends every statement, and writes go through instances. */
export const isFast = process.env.CRUD_SPEED !== 'off'

// The switch of everything that is kept for speed alone. Files of that kind say so in their first line.

/** False only in tests, by `CRUD_SPEED=off`: statements and syntax trees are then made anew, instances are loaded and saved, and Sequelize sends every statement. */
export const isFast: boolean = process.env.CRUD_SPEED !== 'off'

import type { Express } from 'express'
import { DataTypes, type Model, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../lib/index.js'
import type { TestDatabase } from './database.js'
import { identity } from './tokens.js'

type Any = ModelStatic<Model>

/** A row of the join model between posts and tags. */
export interface Link {
  readonly id: number
  readonly postId: number
  readonly tagId: number
  readonly tenant: number | null
  readonly owner: string | null
}

export const POSTS = ['p1', 'p2', 'p3', 'p4']
export const TAGS = ['red', 'blue', 'green']

export const LINKS: readonly Link[] = [
  { id: 1, postId: 1, tagId: 1, tenant: 1, owner: 'ann' },
  { id: 2, postId: 1, tagId: 2, tenant: 2, owner: 'ann' },
  { id: 3, postId: 2, tagId: 1, tenant: 2, owner: 'bob' },
  { id: 4, postId: 2, tagId: 3, tenant: null, owner: 'bob' },
  { id: 5, postId: 3, tagId: 2, tenant: 1, owner: null },
]

export interface Tagged {
  readonly Post: Any
  readonly Tag: Any
  readonly Note: Any
  readonly Tagging: Any
}

export interface Tagging {
  /** Options of each resource over the join model. Without options, the join model has no resource. */
  readonly links?: readonly CrudOptions[]
  /** Option `relations` of the resource of posts. */
  readonly relations?: CrudOptions['relations']
  readonly model?: ModelOptions
}

/** Defines posts, tags and their join model with unique names, and notes that refer to posts. */
export function define({ sequelize }: TestDatabase, name: string, { model }: Tagging): Tagged {
  const plain = { timestamps: false }
  const Post = sequelize.define(`${name}Post`, { name: DataTypes.STRING }, plain)
  const Tag = sequelize.define(`${name}Tag`, { name: DataTypes.STRING }, plain)
  const Note = sequelize.define(`${name}Note`, { name: DataTypes.STRING }, plain)
  const Link = sequelize.define(
    `${name}Tagging`,
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      tenant: DataTypes.INTEGER,
      owner: DataTypes.STRING(20),
    },
    { ...plain, ...model },
  )
  const linkOptions = { through: Link, foreignKey: 'postId', otherKey: 'tagId' }
  Post.belongsToMany(Tag, { as: 'tags', ...linkOptions })
  Tag.belongsToMany(Post, { as: 'posts', ...linkOptions, foreignKey: 'tagId', otherKey: 'postId' })
  Post.hasMany(Note, { as: 'notes', foreignKey: 'postId' })
  Note.belongsTo(Post, { as: 'post', foreignKey: 'postId' })
  return { Post, Tag, Note, Tagging: Link }
}

/** Serves the models below `/api/{name}`, such as `/api/{name}/posts`. */
export function mount(app: Express, name: string, { Post, Tag, Note, Tagging: Link }: Tagged, how: Tagging): void {
  const route = (plural: string): CrudOptions => ({
    route: `api/${name}/${plural}`,
    fields: { id: { filterable: true } },
    identity,
  })
  for (const [index, links] of (how.links ?? []).entries()) {
    app.use(crudRouter(Link, { route: `api/${name}/taggings-${index}`, ...links }))
  }
  app.use(crudRouter(Post, { ...route('posts'), ...(how.relations === undefined ? {} : { relations: how.relations }) }))
  app.use(crudRouter(Tag, route('tags')))
  app.use(crudRouter(Note, route('notes')))
}

export async function fill({ Post, Tag, Note, Tagging: Link }: Tagged): Promise<void> {
  await Post.bulkCreate(POSTS.map((name) => ({ name })))
  await Tag.bulkCreate(TAGS.map((name) => ({ name })))
  await Note.bulkCreate(POSTS.map((name, index) => ({ name: `on ${name}`, postId: index + 1 })))
  await Link.bulkCreate(LINKS.map(({ id, ...link }) => ({ ...link })))
}

/** A filter on a list, with its expected results for some links. */
export interface Question {
  readonly plural: 'posts' | 'tags' | 'notes'
  readonly filter: string
  readonly answer: (links: readonly Link[]) => readonly string[]
}

export const tagsOf = (links: readonly Link[], post: number): readonly string[] =>
  links.filter(({ postId }) => postId === post).map(({ tagId }) => TAGS[tagId - 1] ?? '')

const posts = (filter: string, meets: (tags: readonly string[]) => boolean): Question => ({
  plural: 'posts',
  filter,
  answer: (links) => POSTS.filter((_, index) => meets(tagsOf(links, index + 1))),
})

const notes = (filter: string, meets: (tags: readonly string[]) => boolean): Question => ({
  plural: 'notes',
  filter,
  answer: (links) => POSTS.filter((_, index) => meets(tagsOf(links, index + 1))).map((name) => `on ${name}`),
})

const isRed = (tag: string): boolean => tag === 'red'

/** Filters that use the join model in every possible way. */
export const QUESTIONS: readonly Question[] = [
  posts('tags.name=red', (tags) => tags.some(isRed)),
  posts('tags.any.name=red', (tags) => tags.some(isRed)),
  posts('tags.all.name=red', (tags) => tags.every(isRed)),
  posts('tags.none.name=red', (tags) => !tags.some(isRed)),
  posts('tags.name!=red', (tags) => !tags.every(isRed)),
  posts('tags.any(name=red|name=green)', (tags) => tags.some((tag) => tag !== 'blue')),
  posts('tags.all(name=red)', (tags) => tags.every(isRed)),
  posts('tags.none(name=red,id>0)', (tags) => !tags.some(isRed)),
  posts('tags.count=0', (tags) => tags.length === 0),
  posts('tags.count=1', (tags) => tags.length === 1),
  posts('tags.count>1', (tags) => tags.length > 1),
  posts('tags.count=in=1;2', (tags) => tags.length === 1 || tags.length === 2),
  posts('tags.count(name=red)=1', (tags) => tags.filter(isRed).length === 1),
  posts('tags.name=red,tags.count=1', (tags) => tags.some(isRed) && tags.length === 1),
  notes('post.tags.name=red', (tags) => tags.some(isRed)),
  notes('post.tags.none.name=red', (tags) => !tags.some(isRed)),
  notes('post.tags.count=0', (tags) => tags.length === 0),
  {
    plural: 'posts',
    filter: 'tags.posts.name=p1',
    answer: (links) => {
      const shared = tagsOf(links, 1)
      return POSTS.filter((_, index) => tagsOf(links, index + 1).some((tag) => shared.includes(tag)))
    },
  },
  {
    plural: 'tags',
    filter: 'posts.name=p1',
    answer: (links) => TAGS.filter((tag) => tagsOf(links, 1).includes(tag)),
  },
  {
    plural: 'tags',
    filter: 'posts.notes.name=on p2',
    answer: (links) => TAGS.filter((tag) => tagsOf(links, 2).includes(tag)),
  },
  {
    plural: 'tags',
    filter: 'posts.count=0',
    answer: (links) => TAGS.filter((_, index) => !links.some(({ tagId }) => tagId === index + 1)),
  },
]

// The site: every page of docs, with the list in docs/README.md as its sidebar and that file as its home.

import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { readContents } from './contents.js'
import { writeForPrograms } from './llms.js'

const { name, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const contents = readContents()

/** The anchor of a heading as GitHub makes it, so that links hold in both places. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** Drawings are text in the pages; the component draws them in the reader's browser. */
function drawings(md) {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest)
    return `<Drawing source="${encodeURIComponent(content.trim())}" />`
  }
}

const HOME = {
  layout: 'home',
  hero: {
    name,
    tagline: description,
    actions: [
      { theme: 'brand', text: 'Get started', link: '/start' },
      { theme: 'alt', text: 'Options', link: '/options' },
      { theme: 'alt', text: 'Query language', link: '/query-language' },
    ],
  },
  features: [
    {
      title: 'Lists that clients can query',
      details: 'Filters, sorting and selection of fields, also across relations. Pages by number or by cursor.',
      link: '/query-language',
    },
    {
      title: 'Validated writes',
      details: 'The rules of your models check every body. A PATCH changes only what it names. Bulk writes are atomic.',
      link: '/writing',
    },
    {
      title: 'Rules for who may do what',
      details: 'Policies, tenants and masked fields hold on every path: lists, filters, relations, push and exports.',
      link: '/access',
    },
    {
      title: 'Errors that say where',
      details: 'Problem documents with a message for each field, and the position of a mistake in a filter.',
      link: '/problems',
    },
  ],
}

/** Known in the workflow alone: `owner/name`. */
const { GITHUB_REPOSITORY: repository, BASE: base = '/' } = process.env
const address = repository === undefined ? null : `https://github.com/${repository}`

export default defineConfig({
  title: name,
  description,
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  rewrites: { 'README.md': 'index.md' },
  transformPageData(page) {
    if (page.filePath === 'README.md') Object.assign(page.frontmatter, HOME)
  },
  buildEnd: (site) => writeForPrograms(site, contents),
  markdown: { anchor: { slugify }, toc: { slugify }, config: drawings },
  // Drawings need a large library, which pages with drawings load.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: contents.map(({ title, pages }) => ({
      text: title,
      collapsed: false,
      items: pages.map(({ title, file }) => ({ text: title, link: `/${file.replace(/\.md$/, '')}` })),
    })),
    nav: contents.map(({ title, pages }) => ({ text: title, link: `/${pages[0].file.replace(/\.md$/, '')}` })),
    ...(address === null
      ? {}
      : {
          socialLinks: [{ icon: 'github', link: address }],
          editLink: { pattern: `${address}/edit/main/docs/:path`, text: 'Edit this page' },
        }),
  },
})

/** What the page without script looks like: in light and dark, on narrow and on wide screens. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #556070; --ground: #ffffff; --panel: #f4f6f9; --line: #d5dbe3; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #a3aebd; --ground: #14181e; --panel: #1d232c; --line: #353e4a; --link: #8ab8f0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
h1 { margin: 0.5rem 0; font-size: 1.75rem; overflow-wrap: anywhere; }
h1 small { font-size: 1rem; font-weight: normal; color: var(--soft); }
h2 { margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.375rem; }
h3 { margin: 1.5rem 0 0.5rem; font-size: 1.0625rem; }
a { color: var(--link); }
nav, .links { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
details { margin: 0.375rem 0; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--panel); padding: 0 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
summary span { color: var(--soft); }
summary b { display: inline-block; min-width: 4.25rem; font: bold 0.8125rem/1.5 ui-monospace, monospace; }
.get { color: #0b6b43; } .post { color: #0b57a4; } .put, .patch { color: #8a5300; } .delete { color: #b3261e; }
@media (prefers-color-scheme: dark) {
  .get { color: #7fd4a8; } .post { color: #8ab8f0; } .put, .patch { color: #f0b860; } .delete { color: #f2a29b; }
}
pre { margin: 0.5rem 0; padding: 0.75rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--ground); user-select: all; }
.scroll { overflow-x: auto; margin: 0.5rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td:first-child code { overflow-wrap: normal; white-space: nowrap; }
.text { min-width: 14rem; white-space: pre-line; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
`

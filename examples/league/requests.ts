import type { Sample } from '../program.js'

/** Requests to the newly started league. The requests work in this order. */
export function samples(port: number): readonly Sample[] {
  const players = `localhost:${port}/api/players`
  const teams = `localhost:${port}/api/teams`
  const orders = `localhost:${port}/api/orders`
  const json = `-H 'Content-Type: application/json'`
  return [
    { title: 'One player', command: `curl '${players}/1'` },
    { title: 'Filter, over a relation', command: `curl -g '${players}?filter=Team.Name=Lakers,Level>30'` },
    { title: 'Or, groups, any case', command: `curl -g '${players}?filter=(Level>70|Name=*SKI/i),Email$test.pl'` },
    { title: 'Filter by a collection', command: `curl -g '${teams}?filter=Players.Any(Level>50,Name^Kasia)'` },
    { title: 'Sort, second page', command: `curl -g '${players}?sort=-Team.Name,Name&page=2&pageSize=4'` },
    { title: 'Only some fields', command: `curl -g '${players}?select=Name,Team.Name&sort=-Level'` },
    { title: 'Only the number', command: `curl -g '${orders}?filter=Status!=Cancelled&count=true'` },
    { title: 'Page by cursor', command: `curl -g '${players}?cursor=&pageSize=2'` },
    {
      title: 'Create',
      command: `curl -X POST '${players}' ${json} -d '{"name":"Ewa Nowa","level":33,"teamId":1}'`,
    },
    {
      title: 'Patch: null clears, absent stays',
      command: `curl -X PATCH '${players}/1' ${json} -d '{"level":43,"email":null}'`,
    },
    { title: 'Delete', command: `curl -i -X DELETE '${players}/6'` },
    {
      title: 'Create several, all or none',
      command: `curl -X POST '${orders}/bulk' ${json} -d '[{"product":"Net","total":12.5},{"product":"Whistle"}]'`,
    },
    { title: 'Delete several', command: `curl -X POST '${orders}/bulk-delete' ${json} -d '[1,2,99]'` },
    { title: 'An error that says where', command: `curl -g '${players}?filter=(Level>5,Name^A'` },
  ]
}

import type { Sample } from '../program.js'

/** Requests to the newly started example. The requests work in this order. */
export function samples(port: number): readonly Sample[] {
  const employees = `localhost:${port}/api/employees`
  const json = `-H 'Content-Type: application/json'`
  const as = (user: string): string => `-H "Authorization: Bearer $${user.toUpperCase()}"`
  return [
    { title: 'Without a token: 401', command: `curl -i '${employees}'` },
    {
      title: 'A wrong password: 401, and the same for a name that nobody has',
      command: `curl '${`localhost:${port}`}/login' ${json} -d '{"username":"erin","password":"a guess"}'`,
    },
    { title: 'Erin sees the employees of her company, without salaries', command: `curl '${employees}' ${as('erin')}` },
    {
      title: 'Nor can she find them out: 400, as if there were no such field',
      command: `curl -g '${employees}?filter=Salary>6000' ${as('erin')}`,
    },
    {
      title: 'Mara, a manager, sees them',
      command: `curl -g '${employees}?filter=Salary>6000&sort=-Salary&select=name,salary' ${as('mara')}`,
    },
    { title: 'Gus works for another company', command: `curl '${employees}' ${as('gus')}` },
    { title: 'What is not his is not there: 404', command: `curl '${employees}/1' ${as('gus')}` },
    { title: 'A record has a version, in ETag', command: `curl -i '${employees}/1' ${as('mara')}` },
    {
      title: 'A patch must say which version it is made for: 428',
      command: `curl -X PATCH '${employees}/1' ${as('mara')} ${json} -d '{"title":"Lead"}'`,
    },
    {
      title: 'Mara promotes Erin. She may not write salaries, so that is left out',
      command: `curl -i -X PATCH '${employees}/1' ${as('mara')} -H 'If-Match: W/"0"' ${json} -d '{"title":"Lead","salary":9000}'`,
    },
    {
      title: 'Somebody with the old version comes too late: 412',
      command: `curl -X PATCH '${employees}/1' ${as('ada')} -H 'If-Match: W/"0"' ${json} -d '{"salary":5600}'`,
    },
    {
      title: 'Ada, an admin, writes salaries, of whatever version with *',
      command: `curl -X PATCH '${employees}/1' ${as('ada')} -H 'If-Match: *' ${json} -d '{"salary":5600}'`,
    },
    {
      title: 'But not her own: a hook says 403',
      command: `curl -X PATCH '${employees}/3' ${as('ada')} -H 'If-Match: *' ${json} -d '{"salary":9999}'`,
    },
    { title: 'Mara may not delete: 403', command: `curl -X DELETE '${employees}/1' ${as('mara')}` },
    { title: 'Ada may', command: `curl -i -X DELETE '${employees}/1' ${as('ada')}` },
    {
      title: 'The record is marked, and admins can list it',
      command: `curl -g '${employees}?includeDeleted=true&filter=DeletedAt!=null' ${as('ada')}`,
    },
    { title: 'And restore it', command: `curl -X POST '${employees}/1/restore' ${as('ada')}` },
  ]
}

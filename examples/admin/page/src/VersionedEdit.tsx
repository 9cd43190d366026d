import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
} from '@mui/material'
import { type ReactNode, useState } from 'react'
import { Edit, type RaRecord, useNotify, useRedirect, useRefresh, useResourceContext } from 'react-admin'
import { News } from './live'
import { dataProvider } from './providers'

/**
 * Two users have saved one record: the record as this user wants to save it, as the user has read it, and as it is now.
 */
interface Conflict {
  readonly mine: RaRecord
  readonly read: RaRecord
  readonly theirs: RaRecord
}

interface Failure {
  readonly status?: number
  readonly message: string
  readonly body?: { readonly errors?: object }
}

/**
 * A form that saves only if the record still has the version that the form has read. If another user was faster, the
 * form asks what to do.
 */
export function VersionedEdit({ children, parameters = {} }: { children: ReactNode; parameters?: object }) {
  const resource = useResourceContext() ?? ''
  const notify = useNotify()
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const meta = { parameters }

  async function failed(error: unknown, saved?: { data?: unknown; previousData?: unknown }) {
    const { status, message, body } = error as Failure
    const read = saved?.previousData as RaRecord | undefined
    if (status === 412 && read !== undefined) {
      const { data: theirs } = await dataProvider.getOne(resource, { id: read.id, meta })
      setConflict({ mine: saved?.data as RaRecord, read, theirs })
    } else if (body?.errors === undefined) {
      // Messages about fields are shown at their inputs.
      notify(message, { type: 'error' })
    }
  }

  return (
    <Edit mutationMode="pessimistic" mutationOptions={{ onError: failed }} queryOptions={{ meta }}>
      <News />
      {children}
      {conflict !== null && <Decision conflict={conflict} close={() => setConflict(null)} failed={failed} />}
    </Edit>
  )
}

interface Decided {
  readonly conflict: Conflict
  readonly close: () => void
  readonly failed: (error: unknown) => void
}

function Decision({ conflict: { mine, read, theirs }, close, failed }: Decided) {
  const resource = useResourceContext() ?? ''
  const refresh = useRefresh()
  const redirect = useRedirect()
  const notify = useNotify()
  const names = Object.keys(theirs).filter((name) => !HIDDEN.has(name) && textOf(mine[name]) !== textOf(theirs[name]))

  function takeTheirs() {
    close()
    refresh()
  }

  /** Saves this form's changes over the current version of the record. */
  async function keepMine() {
    const previousData = { ...read, _etag: theirs._etag }
    try {
      await dataProvider.update(resource, { id: read.id, data: mine, previousData })
      close()
      notify('ra.notification.updated', { type: 'info', messageArgs: { smart_count: 1 } })
      redirect('list', resource)
    } catch (error) {
      close()
      failed(error)
    }
  }

  return (
    <Dialog open onClose={close} aria-labelledby="conflict">
      <DialogTitle id="conflict">Somebody else has changed this record</DialogTitle>
      <DialogContent>
        <Table size="small">
          <TableHead>
            <TableRow>
              <TableCell>Field</TableCell>
              <TableCell>Yours</TableCell>
              <TableCell>Theirs</TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {names.map((name) => (
              <TableRow key={name}>
                <TableCell>{name}</TableCell>
                <TableCell>{textOf(mine[name])}</TableCell>
                <TableCell>{textOf(theirs[name])}</TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </DialogContent>
      <DialogActions>
        <Button onClick={close}>Keep editing</Button>
        <Button onClick={takeTheirs}>Take theirs</Button>
        <Button onClick={keepMine} variant="contained">
          Save mine
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const HIDDEN: ReadonlySet<string> = new Set(['id', '_etag', 'rowVersion'])

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—'
  if (Array.isArray(value)) return value.length === 1 ? '1 entry' : `${value.length} entries`
  return value instanceof Date ? value.toISOString() : String(value)
}

import ConfirmationNumber from '@mui/icons-material/ConfirmationNumber'
import Groups from '@mui/icons-material/Groups'
import { Typography } from '@mui/material'
import { useState } from 'react'
import {
  Admin,
  Button,
  Confirm,
  Create,
  Datagrid,
  DateField,
  defaultDarkTheme,
  List,
  ReferenceInput,
  ReferenceManyField,
  Resource,
  SearchInput,
  SelectInput,
  SimpleForm,
  TextArrayField,
  TextArrayInput,
  TextField,
  TextInput,
  useNotify,
  useRecordContext,
  useRefresh,
} from 'react-admin'
import { createRoot } from 'react-dom/client'
import { ACCOUNTS } from '../../../desk/accounts'
import { Live } from './live'
import { authProvider, dataProvider, tickets } from './providers'
import { SignIn } from './SignIn'
import { lightTheme } from './theme'
import { VersionedEdit } from './VersionedEdit'

const filters = [
  <SearchInput key="q" source="q" alwaysOn />,
  <SelectInput key="status" source="status" choices={['open', 'closed'].map((id) => ({ id, name: id }))} />,
]

/** The list also reads the team and the requester of each ticket. */
const listed = { parameters: { select: '*,team.name,requester.name' } }

function TicketList() {
  return (
    <List
      filters={filters}
      sort={{ field: 'openedAt', order: 'DESC' }}
      queryOptions={{ meta: listed }}
      exporter={false}
    >
      <Live />
      <Datagrid rowClick="edit" bulkActionButtons={false}>
        <TextField source="subject" />
        <TextField source="team.name" label="Team" />
        <TextField source="requester.name" label="Requester" />
        <TextArrayField source="tags" sortable={false} />
        <TextField source="status" />
        <DateField source="waitingSince" label="Waits since" showTime sortable={false} />
      </Datagrid>
    </List>
  )
}

/** Button that closes the ticket of the form. */
function Close() {
  const record = useRecordContext()
  const notify = useNotify()
  const refresh = useRefresh()
  const [isAsking, setAsking] = useState(false)
  if (record === undefined || record.status === 'closed') return null

  async function close() {
    setAsking(false)
    try {
      await tickets.actions.close(Number(record?.id), { note: 'Closed by the desk.' }, { ifMatch: '*' })
      refresh()
    } catch (error) {
      notify((error as Error).message, { type: 'error' })
    }
  }

  return (
    <>
      <Button label="Close this ticket" onClick={() => setAsking(true)} />
      <Confirm
        isOpen={isAsking}
        title="Close this ticket?"
        content="Its requester gets a message."
        onConfirm={close}
        onClose={() => setAsking(false)}
      />
    </>
  )
}

function Inputs() {
  return (
    <>
      <ReferenceInput source="teamId" reference="teams">
        <SelectInput label="Team" optionText="name" />
      </ReferenceInput>
      <TextInput source="subject" fullWidth />
      <TextArrayInput source="tags" />
    </>
  )
}

function TicketEdit() {
  return (
    <VersionedEdit>
      <SimpleForm>
        <Inputs />
        <Close />
        <Typography variant="subtitle2" component="h2">
          Messages
        </Typography>
        <ReferenceManyField reference="messages" target="ticketId" sort={{ field: 'sentAt', order: 'ASC' }}>
          <Datagrid bulkActionButtons={false}>
            <TextField source="text" sortable={false} />
            <DateField source="sentAt" showTime sortable={false} />
          </Datagrid>
        </ReferenceManyField>
      </SimpleForm>
    </VersionedEdit>
  )
}

function TicketNew() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <Inputs />
      </SimpleForm>
    </Create>
  )
}

function TeamList() {
  return (
    <List exporter={false}>
      <Datagrid bulkActionButtons={false}>
        <TextField source="name" />
      </Datagrid>
    </List>
  )
}

function Desk() {
  return (
    <Admin
      title="Help desk"
      dataProvider={dataProvider}
      authProvider={authProvider}
      loginPage={<SignIn accounts={ACCOUNTS} />}
      theme={lightTheme}
      darkTheme={defaultDarkTheme}
      requireAuth
      disableTelemetry
    >
      <Resource name="tickets" icon={ConfirmationNumber} list={TicketList} edit={TicketEdit} create={TicketNew} />
      <Resource name="teams" icon={Groups} list={TeamList} recordRepresentation={({ name }) => name} />
    </Admin>
  )
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Desk />)

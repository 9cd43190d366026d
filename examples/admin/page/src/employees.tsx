import { useMediaQuery } from '@mui/material'
import {
  Create,
  Datagrid,
  List,
  NumberField,
  NumberInput,
  SearchInput,
  SimpleForm,
  SimpleList,
  TextField,
  TextInput,
  usePermissions,
} from 'react-admin'
import { Live } from './live'
import { VersionedEdit } from './VersionedEdit'

const filters = [<SearchInput key="q" source="q" alwaysOn />]

/** List of the employees of the user's own tenant. The server leaves out salaries unless the user is a manager. */
export function EmployeeList() {
  const isSmall = useMediaQuery('(max-width: 600px)')
  const { permissions: role } = usePermissions()
  return (
    <List filters={filters} sort={{ field: 'name', order: 'ASC' }} exporter={false}>
      <Live />
      {isSmall ? (
        <SimpleList primaryText={({ name }) => name} secondaryText={({ title }) => title} />
      ) : (
        <Datagrid rowClick="edit" bulkActionButtons={role === 'admin' ? undefined : false}>
          <TextField source="name" />
          <TextField source="title" />
          {role !== 'employee' && <NumberField source="salary" />}
          <TextField source="updatedBy" />
        </Datagrid>
      )}
    </List>
  )
}

function Inputs() {
  const { permissions: role } = usePermissions()
  return (
    <>
      <TextInput source="name" />
      <TextInput source="title" />
      {role === 'admin' && <NumberInput source="salary" />}
    </>
  )
}

export function EmployeeEdit() {
  return (
    <VersionedEdit>
      <SimpleForm>
        <Inputs />
      </SimpleForm>
    </VersionedEdit>
  )
}

export function EmployeeNew() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <Inputs />
      </SimpleForm>
    </Create>
  )
}

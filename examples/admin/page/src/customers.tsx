import { Typography, useMediaQuery } from '@mui/material'
import {
  Create,
  Datagrid,
  DateField,
  List,
  ReferenceManyField,
  SearchInput,
  SimpleForm,
  SimpleList,
  TextField,
  TextInput,
} from 'react-admin'
import { Live } from './live'
import { VersionedEdit } from './VersionedEdit'

const filters = [<SearchInput key="q" source="q" alwaysOn />, <TextInput key="city" source="city_q" label="City" />]

export function CustomerList() {
  const isSmall = useMediaQuery('(max-width: 600px)')
  return (
    <List filters={filters} sort={{ field: 'name', order: 'ASC' }} exporter={false}>
      <Live />
      {isSmall ? (
        <SimpleList primaryText={({ name }) => name} secondaryText={({ city }) => city} />
      ) : (
        <Datagrid rowClick="edit">
          <TextField source="name" />
          <TextField source="city" />
        </Datagrid>
      )}
    </List>
  )
}

function Inputs() {
  return (
    <>
      <TextInput source="name" />
      <TextInput source="city" />
    </>
  )
}

export function CustomerEdit() {
  return (
    <VersionedEdit>
      <SimpleForm>
        <Inputs />
        <Typography variant="subtitle2" component="h2">
          Orders
        </Typography>
        <ReferenceManyField reference="orders" target="customers/orders" sort={{ field: 'placedAt', order: 'DESC' }}>
          <Datagrid rowClick="edit" bulkActionButtons={false}>
            <TextField source="id" label="Order" sortable={false} />
            <TextField source="status" sortable={false} />
            <DateField source="placedAt" sortable={false} />
          </Datagrid>
        </ReferenceManyField>
      </SimpleForm>
    </VersionedEdit>
  )
}

export function CustomerNew() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <Inputs />
      </SimpleForm>
    </Create>
  )
}

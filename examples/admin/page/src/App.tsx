import Badge from '@mui/icons-material/Badge'
import Inventory from '@mui/icons-material/Inventory2'
import People from '@mui/icons-material/People'
import Receipt from '@mui/icons-material/Receipt'
import { Admin, defaultDarkTheme, Resource } from 'react-admin'
import { ACCOUNTS } from '../../../secured/accounts'
import { CustomerEdit, CustomerList, CustomerNew } from './customers'
import { EmployeeEdit, EmployeeList, EmployeeNew } from './employees'
import { OrderEdit, OrderList, OrderNew } from './orders'
import { ProductEdit, ProductList, ProductNew } from './products'
import { authProvider, dataProvider } from './providers'
import { SignIn } from './SignIn'
import { lightTheme } from './theme'

export function App() {
  return (
    <Admin
      title="Shop"
      dataProvider={dataProvider}
      authProvider={authProvider}
      loginPage={<SignIn accounts={ACCOUNTS} />}
      theme={lightTheme}
      darkTheme={defaultDarkTheme}
      requireAuth
      disableTelemetry
    >
      <Resource name="orders" icon={Receipt} list={OrderList} edit={OrderEdit} create={OrderNew} />
      <Resource
        name="products"
        icon={Inventory}
        list={ProductList}
        edit={ProductEdit}
        create={ProductNew}
        recordRepresentation={({ name }) => name}
      />
      <Resource
        name="customers"
        icon={People}
        list={CustomerList}
        edit={CustomerEdit}
        create={CustomerNew}
        recordRepresentation={({ name }) => name}
      />
      <Resource
        name="employees"
        icon={Badge}
        list={EmployeeList}
        edit={EmployeeEdit}
        create={EmployeeNew}
        recordRepresentation={({ name }) => name}
      />
      <Resource name="tags" recordRepresentation={({ name }) => name} />
    </Admin>
  )
}

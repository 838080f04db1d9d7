"""Commands about ranked covers."""

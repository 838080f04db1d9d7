"""Lakes in object stores: S3, Google Cloud Storage and Azure, through obstore."""

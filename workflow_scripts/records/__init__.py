"""What every stage may use: schemas, files and their manifests, seeds, the code digest, errors, progress."""

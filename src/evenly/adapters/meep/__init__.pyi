from evenly.adapters.meep.balancing.balancer import ChunkBalancer as ChunkBalancer
from evenly.adapters.meep.cell.cell import cell_of as cell_of
from evenly.adapters.meep.cell.scripts import cell_of_script as cell_of_script
from evenly.adapters.meep.layouts import from_meep as from_meep
from evenly.adapters.meep.layouts import layout as layout
from evenly.adapters.meep.layouts import to_meep as to_meep
